#include "tools/gridhook/senders.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base64.h"
#include "common/buf.h"
#include "common/count.h"
#include "common/digest.h"
#include "common/fs.h"
#include "common/hex.h"
#include "common/log.h"
#include "common/num.h"
#include "tools/gridhook/settings.h"

#define FILE_MAX ((size_t)256 << 10)
#define NAME_MAX_LEN 64
#define TOLERANCE_S 300 /* how old or how early a dated signature may be */
#define SIGNATURES_MAX 16 /* of one request: keys are changed by sending two */

enum form {
	FORM_TOKEN, /* the secret itself */
	FORM_BASIC, /* user:password */
	FORM_BODY, /* hex of the body's HMAC */
	FORM_STRIPE, /* t=TIME,v1=HEX of "TIME.body" */
	FORM_STANDARD /* v1,BASE64 of "id.TIME.body" */
};

static const struct scheme {
	const char *name;
	enum form form;
	const char *header;
	const char *prefix; /* of the signature, or of each of several */
} schemes[] = {
    {"github", FORM_BODY, "x-hub-signature-256", "sha256="},
    {"bitbucket", FORM_BODY, "x-hub-signature", "sha256="},
    {"gitea", FORM_BODY, "x-gitea-signature", ""},
    {"forgejo", FORM_BODY, "x-forgejo-signature", ""},
    {"gogs", FORM_BODY, "x-gogs-signature", ""},
    {"grafana", FORM_BODY, "x-grafana-alerting-signature", ""},
    {"sentry", FORM_BODY, "sentry-hook-signature", ""},
    {"pagerduty", FORM_BODY, "x-pagerduty-signature", "v1="},
    {"circleci", FORM_BODY, "circleci-signature", "v1="},
    {"linear", FORM_BODY, "linear-signature", ""},
    {"stripe", FORM_STRIPE, "stripe-signature", "v1="},
    {"standard-webhooks", FORM_STANDARD, "webhook-signature", "v1,"},
    {"svix", FORM_STANDARD, "svix-signature", "v1,"},
    {"gitlab", FORM_TOKEN, "x-gitlab-token", ""},
    {"buildkite", FORM_TOKEN, "x-buildkite-token", ""},
    {"basic", FORM_BASIC, "authorization", "Basic "},
};

struct sender {
	struct span name;
	const struct scheme *scheme;
	struct span secret; /* of FORM_STANDARD: the key's bytes */
};

struct senders {
	struct sender list[SENDERS_MAX];
	unsigned count;
	size_t size; /* of `text` */
	char *text; /* all secrets, to be forgotten */
};

/* --- the file ------------------------------------------------------------- */

static enum err
bad(struct fault *fault, const char *file, unsigned line, const char *what)
{
	char place[256];

	snprintf(place, sizeof(place), "%s:%u", file, line);
	fault_set(fault, place, "%s", what);
	return ERR_BAD_INPUT;
}

static struct span
next_word(struct span *rest)
{
	struct span text = span_trim(*rest);
	size_t len = 0;

	while (len < text.len && text.ptr[len] != ' ' && text.ptr[len] != '\t')
		len++;
	*rest = span_trim(span_from(text, len));
	return span_sub(text, 0, len);
}

/* A part of an address, as it stands there. */
static bool
is_name(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.ptr[i]) &&
		    strchr("-_.~", name.ptr[i]) == NULL)
			return false;
	return name.len > 0 && name.len <= NAME_MAX_LEN;
}

static const struct scheme *
find_scheme(struct span name)
{
	for (size_t i = 0; i < COUNT(schemes); i++)
		if (span_eq(name, span_of(schemes[i].name)))
			return &schemes[i];
	return NULL;
}

/* "whsec_" and the key as base64; the key's bytes take the text's place. */
static bool
read_key(struct sender *sender)
{
	struct span text = sender->secret;
	char *to = (char *)(uintptr_t)sender->secret.ptr;
	size_t len;

	if (span_starts(text, SPAN("whsec_")))
		text = span_from(text, 6);
	if (!base64_bytes((uint8_t *)to, text.len, &len, text) || len == 0)
		return false;
	sender->secret.len = len;
	return true;
}

static const char *
read_sender(struct sender *sender, struct span line)
{
	static const char known[] =
	    "no scheme of this name: github, bitbucket, gitea, forgejo, gogs, "
	    "grafana, sentry, pagerduty, circleci, linear, stripe, "
	    "standard-webhooks, svix, gitlab, buildkite and basic are known";

	sender->name = next_word(&line);
	sender->scheme = find_scheme(next_word(&line));
	sender->secret = line;
	if (!is_name(sender->name))
		return "a name is wanted first: letters, digits, - _ . and ~, "
		       "at most 64";
	if (sender->scheme == NULL)
		return known;
	if (line.len == 0)
		return "the secret is missing: NAME SCHEME SECRET is wanted";
	if (line.len >= SETTINGS_SECRET_MAX)
		return "the secret is too long";
	if (sender->scheme->form == FORM_BASIC &&
	    span_find(line, ':') == line.len)
		return "the secret of basic is USER:PASSWORD";
	if (sender->scheme->form == FORM_STANDARD && !read_key(sender))
		return "the secret of standard-webhooks and svix is whsec_ and "
		       "base64";
	return NULL;
}

static enum err
read_lines(struct senders *senders, const char *file, struct fault *fault)
{
	struct span rest = span_make(senders->text, senders->size), line;
	const char *what = NULL;
	unsigned number = 0;

	while (what == NULL && span_cut(&line, &rest, '\n')) {
		number++;
		if (line.len > 0 && line.ptr[line.len - 1] == '\r')
			line.len--;
		line = span_trim(line);
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		if (senders->count == SENDERS_MAX)
			return bad(
			    fault, file, number, "more than 256 senders");
		what = read_sender(&senders->list[senders->count], line);
		if (what == NULL &&
		    senders_find(senders, senders->list[senders->count].name) !=
			NULL)
			what = "this name was given above";
		senders->count++;
	}
	return what == NULL ? ERR_OK : bad(fault, file, number, what);
}

enum err
senders_read(struct senders **out, const char *file, struct span text,
    struct fault *fault)
{
	struct senders *senders = calloc(1, sizeof(*senders));
	enum err err;

	assert(file != NULL);
	*out = NULL;
	if (senders == NULL)
		return ERR_NO_MEMORY;
	senders->size = text.len;
	senders->text = malloc(text.len + 1);
	if (senders->text == NULL) {
		free(senders);
		return ERR_NO_MEMORY;
	}
	if (text.len > 0)
		memcpy(senders->text, text.ptr, text.len);
	err = read_lines(senders, file, fault);
	if (err == ERR_OK)
		*out = senders;
	else
		senders_close(senders);
	return err;
}

enum err
senders_open(struct senders **out, const char *path, struct fault *fault)
{
	struct stat stat_;
	struct buf buf;
	enum err err;

	assert(path != NULL);
	*out = NULL;
	buf_init(&buf, FILE_MAX);
	err = fs_read(&buf, path);
	if (err != ERR_OK)
		fault_set(fault, path, "the senders cannot be read: %s",
		    err_text(err));
	else
		err = senders_read(out, path, buf_span(&buf), fault);
	if (err == ERR_OK && stat(path, &stat_) == 0 &&
	    (stat_.st_mode & (S_IRWXO | S_IWGRP)) != 0)
		log_warn("others can get at the senders' secrets (chmod 600): "
			 "file=%s",
		    path);
	if (buf.data != NULL)
		digest_forget(buf.data, buf.cap);
	buf_fini(&buf);
	return err;
}

void
senders_close(struct senders *senders)
{
	if (senders == NULL)
		return;
	digest_forget(senders->text, senders->size);
	free(senders->text);
	free(senders);
}

const struct sender *
senders_find(const struct senders *senders, struct span suffix)
{
	struct span name = span_sub(suffix, 0, span_find(suffix, '/'));

	for (unsigned i = 0; senders != NULL && i < senders->count; i++)
		if (span_eq(senders->list[i].name, name))
			return &senders->list[i];
	return NULL;
}

bool
sender_has_long_secret(const struct sender *sender)
{
	return sender->secret.len >= SETTINGS_SECRET_LONG;
}

/* --- what proves a sender ------------------------------------------------- */

static bool
is_basic(const struct sender *sender, struct span given)
{
	struct span scheme = span_of(sender->scheme->prefix);
	uint8_t bytes[SETTINGS_SECRET_MAX];
	size_t len;
	bool right;

	if (!span_eq_nocase(span_sub(given, 0, scheme.len), scheme))
		return false;
	right = base64_bytes(bytes, sizeof(bytes), &len,
		    span_trim(span_from(given, scheme.len))) &&
	    digest_equal_text(
		span_make((const char *)bytes, len), sender->secret);
	digest_forget(bytes, sizeof(bytes));
	return right;
}

enum sender_proof
sender_head(const struct sender *sender, const struct senders_request *request)
{
	const struct scheme *scheme;
	struct span given;

	assert(sender->scheme != NULL && request->header != NULL);
	scheme = sender->scheme;
	given = request->header(request->arg, scheme->header);
	if (given.ptr == NULL)
		return SENDER_NONE;
	switch (scheme->form) {
	case FORM_TOKEN:
		return digest_equal_text(given, sender->secret) ? SENDER_RIGHT
								: SENDER_WRONG;
	case FORM_BASIC:
		return is_basic(sender, given) ? SENDER_RIGHT : SENDER_WRONG;
	default:
		return SENDER_SIGNED;
	}
}

/* Hex, or base64 of FORM_STANDARD. */
static bool
is_signature(const struct scheme *scheme, struct span text,
    const uint8_t want[DIGEST_SHA256_LEN])
{
	uint8_t got[DIGEST_SHA256_LEN];
	size_t len = sizeof(got);
	bool read;

	if (scheme->form == FORM_STANDARD)
		read = base64_bytes(got, sizeof(got), &len, text);
	else
		read = hex_bytes(got, sizeof(got), text);
	return read && len == sizeof(got) &&
	    digest_equal(got, want, sizeof(got));
}

/* One of the signatures in the header is right. */
static bool
one_is_right(const struct scheme *scheme, struct span given,
    const uint8_t want[DIGEST_SHA256_LEN])
{
	char separator = scheme->form == FORM_STANDARD ? ' ' : ',';
	struct span prefix = span_of(scheme->prefix), each;
	unsigned count = 0;
	bool right = false;

	while (count++ < SIGNATURES_MAX && span_cut(&each, &given, separator)) {
		each = span_trim(each);
		if (span_starts(each, prefix))
			right |= is_signature(
			    scheme, span_from(each, prefix.len), want);
	}
	return right;
}

/* The member "t=" of Stripe's header. */
static struct span
time_in(struct span given)
{
	struct span each;

	while (span_cut(&each, &given, ',')) {
		each = span_trim(each);
		if (span_starts(each, SPAN("t=")))
			return span_from(each, 2);
	}
	return SPAN("");
}

static bool
is_of_today(struct span text, int64_t now_s)
{
	int64_t time_s;

	return num_int(&time_s, text, 0, INT64_MAX / 2) &&
	    time_s >= now_s - TOLERANCE_S && time_s <= now_s + TOLERANCE_S;
}

/* Of FORM_STANDARD: "webhook-id" beside "webhook-signature". */
static struct span
beside_header(const struct scheme *scheme,
    const struct senders_request *request, const char *end)
{
	size_t stem = span_find(span_of(scheme->header), '-');
	char name[32];

	snprintf(name, sizeof(name), "%.*s%s", (int)stem, scheme->header, end);
	return request->header(request->arg, name);
}

bool
sender_signed(const struct sender *sender,
    const struct senders_request *request, struct span body, int64_t now_s)
{
	const struct scheme *scheme;
	struct span given;
	struct span parts[5] = {body};
	uint8_t want[DIGEST_SHA256_LEN];
	size_t count = 1;
	bool dated = true;

	assert(sender->scheme != NULL && request->header != NULL);
	scheme = sender->scheme;
	given = request->header(request->arg, scheme->header);
	if (given.ptr == NULL)
		return false;
	if (scheme->form == FORM_STRIPE) {
		parts[0] = time_in(given);
		parts[1] = SPAN(".");
		parts[2] = body;
		count = 3;
		dated = is_of_today(parts[0], now_s);
	} else if (scheme->form == FORM_STANDARD) {
		parts[0] = beside_header(scheme, request, "-id");
		parts[1] = SPAN(".");
		parts[2] = beside_header(scheme, request, "-timestamp");
		parts[3] = SPAN(".");
		parts[4] = body;
		count = 5;
		dated = parts[0].ptr != NULL && is_of_today(parts[2], now_s);
	}
	if (!dated)
		return false;
	digest_hmac_sha256(want, sender->secret, parts, count);
	return one_is_right(scheme, given, want);
}
