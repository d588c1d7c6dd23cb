/* Two texts, apart by a line break, as origins and as authorities. */
#include "common/origin.h"
#include "tests/fuzz/fuzz.h"

/* Whatever was taken must be nothing but its parts. */
static void
look(const struct authority *at, struct span text)
{
	struct span rest = span_from(text, at->host.len);

	FUZZ_CHECK(at->host.len > 0 && span_starts(text, at->host));
	for (size_t i = 0; i < at->host.len; i++)
		FUZZ_CHECK(
		    memchr("/@\\?#,% \t\r\n", at->host.ptr[i], 11) == NULL &&
		    at->host.ptr[i] != '\0');
	FUZZ_CHECK((rest.len > 0) == (at->port > 0));
	FUZZ_CHECK(rest.len == 0 || (rest.ptr[0] == ':' && rest.len <= 6));
	for (size_t i = 1; i < rest.len; i++)
		FUZZ_CHECK(rest.ptr[i] >= '0' && rest.ptr[i] <= '9');
	FUZZ_CHECK(authority_same(at, at, 80));
}

static bool
read_one(struct origin *origin, struct span text)
{
	struct authority at;

	if (authority_read(&at, text))
		look(&at, text);
	if (!origin_read(origin, text))
		return false;
	look(&origin->at, span_from(text, origin->scheme.len + 3));
	FUZZ_CHECK(origin_same(origin, origin));
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span text = span_make(data, len);
	size_t end = span_find(text, '\n');
	struct origin a, b;

	if (!read_one(&a, span_sub(text, 0, end)) ||
	    !read_one(&b, span_from(text, end + 1)))
		return 0;
	FUZZ_CHECK(origin_same(&a, &b) == origin_same(&b, &a));
	if (origin_same(&a, &b))
		FUZZ_CHECK(authority_is_loopback(&a.at) ==
		    authority_is_loopback(&b.at));
	return 0;
}
