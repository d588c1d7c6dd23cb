#include "tools/gridhook/tool/urlrule.h"

#include <assert.h>
#include <stdint.h>

#include "common/hex.h"
#include "common/utf8.h"
#include "tools/gridhook/tool/settings.h"

static enum err
refuse(struct fault *fault, const char *why)
{
	fault_set(fault, "url", "not allowed: %s", why);
	return ERR_DENIED;
}

/* Nothing that a browser, a desktop file or a terminal could stumble on. */
static bool
is_clean(struct span url)
{
	for (size_t i = 0; i < url.len; i++) {
		uint8_t byte = (uint8_t)url.ptr[i];

		/* C1 controls are the code points U+0080..U+009F. */
		if (byte <= ' ' || byte == 0x7f || byte == '\\' ||
		    (byte == 0xc2 && i + 1 < url.len &&
			(uint8_t)url.ptr[i + 1] < 0xa0))
			return false;
	}
	return utf8_is_valid(url);
}

static bool
is_alpha(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* RFC 3986: a letter, then letters, digits and + - . */
static bool
is_scheme(struct span text)
{
	if (text.len == 0 || !is_alpha(text.ptr[0]))
		return false;
	for (size_t i = 1; i < text.len; i++) {
		char byte = text.ptr[i];

		if (!is_alpha(byte) && !(byte >= '0' && byte <= '9') &&
		    byte != '+' && byte != '-' && byte != '.')
			return false;
	}
	return true;
}

/* From "//" up to the path, query or fragment. */
static enum err
check_host(struct span rest, struct fault *fault)
{
	struct span host;
	size_t end = 2;

	if (!span_starts(rest, SPAN("//")))
		return refuse(fault, "this URL names no host");
	while (end < rest.len && strchr("/?#", rest.ptr[end]) == NULL)
		end++;
	host = span_sub(rest, 2, end - 2);
	if (span_find(host, '@') < host.len)
		return refuse(
		    fault, "a URL with a name or password before the host");
	if (host.len == 0 || host.ptr[0] == ':')
		return refuse(fault, "this URL names no host");
	return ERR_OK;
}

/* "a%74tach" is attach: decoded, then compared without case. */
static bool
is_attachment(struct span name)
{
	char plain[16];
	size_t used = 0;

	while (name.len > 0 && used < sizeof(plain))
		hex_percent(&plain[used++], &name);
	if (name.len > 0)
		return false;
	name = span_make(plain, used);
	return span_eq_nocase(name, SPAN("attach")) ||
	    span_eq_nocase(name, SPAN("attachment"));
}

/*
 * Copies a mailto link's fields, except those that would attach a file of the
 * user's.
 */
static void
copy_mail(struct buf *out, struct span url)
{
	size_t query = span_find(url, '?');
	struct span field, rest;
	char before = '?';

	buf_add_span(out, span_sub(url, 0, query));
	if (query == url.len)
		return;
	rest = span_from(url, query + 1);
	while (span_cut(&field, &rest, '&')) {
		if (is_attachment(span_sub(field, 0, span_find(field, '='))))
			continue;
		buf_add_char(out, before);
		buf_add_span(out, field);
		before = '&';
	}
}

enum err
urlrule_check(struct buf *out, struct span url, const char *const *schemes,
    struct fault *fault)
{
	struct span scheme = span_sub(url, 0, span_find(url, ':'));
	enum err err = ERR_OK;

	assert(out != NULL && schemes != NULL);
	if (url.len > URL_MAX)
		return refuse(fault, "a URL longer than 2048 bytes");
	if (!is_clean(url))
		return refuse(fault,
		    "a URL with blanks, control characters or backslashes");
	if (scheme.len == url.len || !is_scheme(scheme))
		return refuse(fault, "this is no absolute URL");
	if (!settings_listed(schemes, scheme)) {
		fault_set(
		    fault, "url", "not allowed: scheme %.*s", SPAN_ARG(scheme));
		return ERR_DENIED;
	}
	if (span_eq_nocase(scheme, SPAN("mailto")))
		copy_mail(out, url);
	else {
		if (span_eq_nocase(scheme, SPAN("http")) ||
		    span_eq_nocase(scheme, SPAN("https")))
			err = check_host(span_from(url, scheme.len + 1), fault);
		buf_add_span(out, url);
	}
	return err != ERR_OK ? err : buf_end(out);
}
