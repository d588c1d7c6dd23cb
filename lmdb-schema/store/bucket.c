#include "lmdb-schema/store/bucket.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/hex.h"
#include "common/num.h"
#include "common/origin.h"
#include "common/web/object.h"
#include "common/web/pull.h"

#define URL_MAX 1024
#define ANSWER_MAX ((size_t)4 << 20)
#define READ_BYTES ((size_t)256 << 10)
#define PIECES_MAX 1000000

/* --- names ---------------------------------------------------------------- */

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

bool
bucket_is_url(struct span text)
{
	size_t last = text.len;
	struct origin origin;
	struct span name;

	while (last > 0 && text.ptr[last - 1] != '/')
		last--;
	if (last == 0 || !origin_read(&origin, span_sub(text, 0, last - 1)))
		return false;
	name = span_from(text, last);
	for (size_t i = 0; i < name.len; i++)
		if (memchr(name_letters, name.ptr[i],
			sizeof(name_letters) - 1) == NULL)
			return false;
	return name.len > 0 &&
	    (span_eq(origin.scheme, SPAN("http")) ||
		span_eq(origin.scheme, SPAN("https")));
}

unsigned
bucket_pieces(const struct bucket *bucket, const struct files_id *id)
{
	uint64_t count = (id->bytes + bucket->piece - 1) / bucket->piece;

	assert(count <= PIECES_MAX);
	return count == 0 ? 1 : (unsigned)count;
}

uint64_t
bucket_piece_bytes(
    const struct bucket *bucket, const struct files_id *id, unsigned number)
{
	uint64_t from = number * bucket->piece, left = id->bytes - from;

	return left < bucket->piece ? left : bucket->piece;
}

static enum err
piece_url(char url[URL_MAX], const struct bucket *bucket, const char *name,
    unsigned number)
{
	int len = snprintf(url, URL_MAX, "%s/%s/%s.%u", bucket->url,
	    bucket->folder, name, number);

	return len < URL_MAX ? ERR_OK : ERR_TOO_LARGE;
}

/* --- refusals ------------------------------------------------------------- */

/* The element's text, and the rest behind it; false: there is none. */
static bool
cut_element(struct span *text, struct span *rest, const char *name)
{
	char mark[64];
	const char *begin, *end;
	int len = snprintf(mark, sizeof(mark), "<%s>", name);

	if (rest->len == 0)
		return false;
	begin = memmem(rest->ptr, rest->len, mark, (size_t)len);
	if (begin == NULL)
		return false;
	begin += len;
	len = snprintf(mark, sizeof(mark), "</%s>", name);
	end = memmem(
	    begin, rest->len - (size_t)(begin - rest->ptr), mark, (size_t)len);
	if (end == NULL)
		return false;
	*text = span_make(begin, (size_t)(end - begin));
	*rest = span_from(*rest, (size_t)(end + len - rest->ptr));
	return true;
}

/* The meaning of a store's answers: by their code, or by the status. */
static const struct refusal {
	const char *code;
	int status;
	enum err err;
	const char *advice;
} refusals[] = {
    {"SignatureDoesNotMatch", 0, ERR_DENIED,
	"the secret of bucket_secret_file is not that of bucket_key"},
    {"InvalidAccessKeyId", 0, ERR_DENIED, "it does not know bucket_key"},
    {"RequestTimeTooSkewed", 0, ERR_DENIED,
	"the clock of this machine is wrong by many minutes"},
    {"AuthorizationHeaderMalformed", 0, ERR_DENIED,
	"bucket_region is another one"},
    {"PermanentRedirect", 0, ERR_DENIED, "bucket_region is another one"},
    {"NoSuchBucket", 0, ERR_NOT_FOUND,
	"make the bucket, or correct its name in bucket"},
    {"QuotaExceeded", 0, ERR_NO_SPACE, "it is full: make room there"},
    {"XMinioStorageFull", 0, ERR_NO_SPACE, "it is full: make room there"},
    {"EntityTooLarge", 0, ERR_BAD_INPUT, "it takes no objects of 64 MiB"},
    {"", 507, ERR_NO_SPACE, "it is full: make room there"},
    {"", 401, ERR_DENIED, "look at bucket_key and bucket_secret_file"},
    {"", 403, ERR_DENIED,
	"bucket_key must be allowed to list the bucket, and to get, put and "
	"delete its objects"},
    {"", 301, ERR_DENIED, "bucket_region or the host is another one"},
    {"", 307, ERR_DENIED, "bucket_region or the host is another one"},
    {"", 404, ERR_NOT_FOUND, "it has no such bucket or object"},
    {"", 429, ERR_AWAY, "it is too busy"},
    {"", 500, ERR_AWAY, "it has a failure"},
    {"", 502, ERR_AWAY, "it has a failure"},
    {"", 503, ERR_AWAY, "it is too busy, or has a failure"},
    {"", 504, ERR_AWAY, "it has a failure"},
    {NULL, 0, ERR_BAD_INPUT,
	"it is no S3-compatible store, or of another kind"},
};

static const struct refusal *
find_refusal(int status, struct span code)
{
	const struct refusal *at = refusals;

	while (at->code != NULL &&
	    !(at->code[0] != '\0' ? span_eq(code, span_of(at->code))
				  : at->status == status))
		at++;
	return at;
}

#define CODE_MAX 64

/* ERR_OK for the statuses of success. */
static enum err
of_answer(int status, struct span answer, char why[ASK_ERROR_MAX])
{
	const struct refusal *refusal;
	struct span code = SPAN("");

	if (status >= 200 && status < 300)
		return ERR_OK;
	if (!cut_element(&code, &answer, "Code") || code.len > CODE_MAX)
		code = SPAN("");
	refusal = find_refusal(status, code);
	snprintf(why, ASK_ERROR_MAX, "it answered %d%s%.*s: %s", status,
	    code.len > 0 ? " " : "", SPAN_ARG(code), refusal->advice);
	return refusal->err;
}

static enum err
request(const struct bucket *bucket, const struct object_request *one,
    struct buf *answer, struct fault *fault)
{
	const struct object_sign sign = {
	    bucket->region, bucket->key, bucket->secret};
	const struct ask_trust trust = {bucket->ca, "", ""};
	struct object_request whole = *one;
	char why[ASK_ERROR_MAX];
	int status;
	enum err err;

	whole.sign = &sign;
	whole.trust = &trust;
	whole.stall_s = bucket->stall_s;
	err = object_ask(&whole, &status, answer, why);
	if (err == ERR_OK)
		err = of_answer(status, buf_span(answer), why);
	if (err != ERR_OK)
		fault_set(fault, bucket->url, "%s", why);
	return err;
}

/* --- getting -------------------------------------------------------------- */

enum err
bucket_pull(const struct bucket *bucket, const struct files_id *id,
    uint64_t from, enum err (*each)(void *context, struct span bytes),
    void *context, char why[ASK_ERROR_MAX])
{
	const struct object_sign sign = {
	    bucket->region, bucket->key, bucket->secret};
	const struct ask_trust trust = {bucket->ca, "", ""};
	unsigned number = (unsigned)(from / bucket->piece);
	char url[URL_MAX];
	struct pull_request request = {.url = url,
	    .sign = &sign,
	    .trust = &trust,
	    .from = from % bucket->piece,
	    .stall_s = bucket->stall_s,
	    .each = each,
	    .context = context};
	enum err err = piece_url(url, bucket, id->name, number);

	request.most = bucket_piece_bytes(bucket, id, number) - request.from;
	return err == ERR_OK ? pull(&request, why) : err;
}

/* --- putting and dropping ------------------------------------------------- */

static enum err
read_piece(struct digest_parts *digest, const struct object_request *one)
{
	struct buf room;
	uint64_t at = 0;
	enum err err = ERR_OK;
	char *bytes;

	buf_init(&room, READ_BYTES);
	bytes = buf_room(&room, READ_BYTES);
	if (bytes == NULL)
		err = ERR_NO_MEMORY;
	while (err == ERR_OK && at < one->bytes) {
		uint64_t left = one->bytes - at;
		ssize_t got = pread(one->fd, bytes,
		    left < READ_BYTES ? (size_t)left : READ_BYTES,
		    (off_t)(one->from + at));

		if (got <= 0)
			err = ERR_DAMAGED; /* shorter than its name says */
		else
			digest_parts_more(
			    digest, span_make(bytes, (size_t)got));
		at += got > 0 ? (uint64_t)got : 0;
	}
	buf_fini(&room);
	return err;
}

static enum err
sum_piece(char sha[FILES_NAME_LEN + 1], const struct object_request *one)
{
	uint8_t hash[DIGEST_SHA256_LEN];
	struct digest_parts *digest;
	enum err err = digest_parts_new(&digest);

	if (err == ERR_OK)
		err = read_piece(digest, one);
	if (err == ERR_OK)
		err = digest_parts_end(digest, hash);
	if (err == ERR_OK)
		hex_text(sha, hash, sizeof(hash));
	digest_parts_free(digest);
	return err;
}

enum err
bucket_put(const struct bucket *bucket, const struct files_id *id,
    const char *path, unsigned number, struct fault *fault)
{
	char url[URL_MAX], sha[FILES_NAME_LEN + 1];
	struct object_request one = {.method = "PUT",
	    .url = url,
	    .fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
	    .from = number * bucket->piece,
	    .bytes = bucket_piece_bytes(bucket, id, number),
	    .sha = sha};
	struct buf answer;
	enum err err = piece_url(url, bucket, id->name, number);

	buf_init(&answer, ANSWER_MAX);
	if (err == ERR_OK && one.fd < 0)
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		err = sum_piece(sha, &one);
	/* Of a file that is damaged here nothing is sent. */
	if (err == ERR_OK && bucket_pieces(bucket, id) == 1 &&
	    strcmp(sha, id->name) != 0)
		err = ERR_DAMAGED;
	if (err == ERR_DAMAGED)
		fault_set(
		    fault, path, "is damaged, and is not put into the bucket");
	if (err == ERR_OK)
		err = request(bucket, &one, &answer, fault);
	if (one.fd >= 0)
		close(one.fd);
	buf_fini(&answer);
	return err;
}

enum err
bucket_drop(const struct bucket *bucket, const struct bucket_object *object,
    struct fault *fault)
{
	char url[URL_MAX];
	struct object_request one = {.method = "DELETE", .url = url};
	struct buf answer;
	enum err err = piece_url(url, bucket, object->name, object->number);

	buf_init(&answer, ANSWER_MAX);
	if (err == ERR_OK)
		err = request(bucket, &one, &answer, fault);
	buf_fini(&answer);
	return err;
}

/* --- listing -------------------------------------------------------------- */

/* CLUSTER/SHA.N */
static bool
read_name(
    struct bucket_object *object, const struct bucket *bucket, struct span key)
{
	struct span folder = span_of(bucket->folder);
	int64_t number;

	if (!span_starts(key, folder) || key.len < folder.len + 3 ||
	    key.ptr[folder.len] != '/')
		return false;
	key = span_from(key, folder.len + 1);
	if (key.len < FILES_NAME_LEN + 2 || key.ptr[FILES_NAME_LEN] != '.' ||
	    !files_is_name(span_sub(key, 0, FILES_NAME_LEN)) ||
	    !num_int(
		&number, span_from(key, FILES_NAME_LEN + 1), 0, PIECES_MAX))
		return false;
	object->number = (unsigned)number;
	return span_copy(object->name, sizeof(object->name),
	    span_sub(key, 0, FILES_NAME_LEN));
}

static bool
read_object(struct bucket_object *object, const struct bucket *bucket,
    struct span entry)
{
	struct span key, bytes, time, rest = entry;
	int64_t number;

	if (!cut_element(&key, &rest, "Key") || !read_name(object, bucket, key))
		return false;
	rest = entry;
	if (!cut_element(&bytes, &rest, "Size") ||
	    !num_int(&number, bytes, 0, INT64_MAX))
		return false;
	object->bytes = (uint64_t)number;
	rest = entry;
	return cut_element(&time, &rest, "LastModified") &&
	    date_instant(&object->put_ms, time);
}

/* As the query of a signed request has it: all but letters of names in hex. */
static void
add_encoded(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (memchr(name_letters, text.ptr[i],
			sizeof(name_letters) - 1) != NULL)
			buf_add_char(out, text.ptr[i]);
		else
			buf_addf(out, "%%%02X", (unsigned char)text.ptr[i]);
}

/* `token` is of the page before; NUL-ended in `url`. */
static enum err
list_url(struct buf *url, const struct bucket *bucket, struct span token)
{
	buf_clear(url);
	buf_addf(url, "%s?", bucket->url);
	if (token.len > 0) {
		buf_add_span(url, SPAN("continuation-token="));
		add_encoded(url, token);
		buf_add_char(url, '&');
	}
	buf_add_span(url, SPAN("list-type=2&prefix="));
	add_encoded(url, span_of(bucket->folder));
	buf_add_span(url, SPAN("%2F"));
	buf_add_char(url, '\0');
	return buf_end(url);
}

#define LIST_URL_MAX 8192

enum err
bucket_list(const struct bucket *bucket,
    enum err (*each)(void *context, const struct bucket_object *object),
    void *context, struct fault *fault)
{
	struct object_request one = {.method = "GET"};
	struct span token = SPAN(""), entry, rest;
	struct bucket_object object;
	struct buf answer, url;
	enum err err = ERR_OK;
	bool more = true;

	buf_init(&answer, ANSWER_MAX);
	buf_init(&url, LIST_URL_MAX);
	while (err == ERR_OK && more) {
		err = list_url(&url, bucket, token);
		one.url = url.data;
		if (err == ERR_OK)
			err = request(bucket, &one, &answer, fault);
		rest = buf_span(&answer);
		while (err == ERR_OK && cut_element(&entry, &rest, "Contents"))
			if (read_object(&object, bucket, entry))
				err = each(context, &object);
		rest = buf_span(&answer);
		more = cut_element(&token, &rest, "NextContinuationToken");
	}
	buf_fini(&answer);
	buf_fini(&url);
	return err;
}
