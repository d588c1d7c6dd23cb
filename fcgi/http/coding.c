#include "fcgi/http/coding.h"

const char *const coding_names[CODINGS] = {"identity", "gzip", "zstd"};

/* 0, 1, and up to three decimals: of 1 they are zeros. */
static unsigned
weight(struct span text)
{
	unsigned value = 0, digits = 0;

	if (text.len == 0 || text.len > 5 || text.ptr[0] < '0' ||
	    text.ptr[0] > '1' || (text.len > 1 && text.ptr[1] != '.'))
		return 0;
	for (size_t i = 2; i < text.len; i++, digits++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return 0;
		value = value * 10 + (unsigned)(text.ptr[i] - '0');
	}
	for (; digits < 3; digits++)
		value *= 10;
	if (text.ptr[0] == '0')
		return value;
	return value == 0 ? 1000 : 0;
}

unsigned
coding_weight(struct span params)
{
	struct span piece, rest = params;

	while (span_cut(&piece, &rest, ';')) {
		struct span text = span_trim(piece);

		if (text.len >= 2 &&
		    span_eq_nocase(span_sub(text, 0, 2), SPAN("q=")))
			return weight(span_from(text, 2));
	}
	return 1000;
}

/* The weights of a list; -1 for what is not named, nor stood for by "*". */
struct wishes {
	int plain, gzip, zstd;
};

static void
read_list(struct wishes *wishes, struct span list)
{
	struct span coding, rest = list;
	int any = -1;

	*wishes = (struct wishes){-1, -1, -1};
	while (span_cut(&coding, &rest, ',')) {
		size_t end = span_find(coding, ';');
		struct span name = span_trim(span_sub(coding, 0, end));
		int q = (int)coding_weight(span_from(coding, end + 1));

		if (span_eq_nocase(name, SPAN("gzip")) ||
		    span_eq_nocase(name, SPAN("x-gzip")))
			wishes->gzip = q;
		else if (span_eq_nocase(name, SPAN("zstd")))
			wishes->zstd = q;
		else if (span_eq_nocase(name, SPAN("identity")))
			wishes->plain = q;
		else if (span_eq(name, SPAN("*")))
			any = q;
	}
	if (wishes->gzip < 0)
		wishes->gzip = any;
	if (wishes->plain < 0)
		wishes->plain = any;
}

enum coding
coding_best(struct span list)
{
	struct wishes wishes;

	read_list(&wishes, list);
	if (wishes.zstd > 0 && wishes.zstd >= wishes.gzip &&
	    wishes.zstd >= wishes.plain)
		return CODING_ZSTD;
	return wishes.gzip > 0 && wishes.gzip >= wishes.plain ? CODING_GZIP
							      : CODING_PLAIN;
}

bool
coding_likes_gzip(struct span list)
{
	struct wishes wishes;

	read_list(&wishes, list);
	return wishes.gzip > 0 && wishes.gzip >= wishes.plain &&
	    wishes.gzip >= wishes.zstd;
}

bool
coding_takes_gzip(struct span list)
{
	struct wishes wishes;

	read_list(&wishes, list);
	return wishes.gzip > 0 && wishes.gzip >= wishes.plain;
}
