#include "fcgi/rows/negotiate.h"

#include "common/num.h"
#include "fcgi/call.h"
#include "fcgi/rows/splice.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The quality of a media range's parameters, in thousandths. */
static unsigned
quality(struct span params)
{
	struct span piece, rest = params;

	while (span_cut(&piece, &rest, ';')) {
		struct span text = span_trim(piece);

		if (span_starts(text, SPAN("q=")) && text.len > 2) {
			int64_t q;

			if (num_decimal(&q, span_from(text, 2)) && q >= 0 &&
			    q <= NUM_MICRO)
				return (unsigned)(q / 1000);
			return 0;
		}
	}
	return 1000;
}

enum splice_form
negotiate_form(const struct request *request)
{
	static const struct {
		struct span type;
		enum splice_form form;
	} types[] = {
	    {{"application/json", 16}, SPLICE_JSON},
	    {{"application/x-ndjson", 20}, SPLICE_NDJSON},
	    {{"text/csv", 8}, SPLICE_CSV},
	    {{"*/*", 3}, SPLICE_JSON},
	    {{"application/*", 13}, SPLICE_JSON},
	};
	struct span range, rest = request->accept;
	enum splice_form best = SPLICE_JSON;
	unsigned best_quality = 0;

	while (span_cut(&range, &rest, ',')) {
		size_t end = span_find(range, ';');
		struct span type = span_trim(span_sub(range, 0, end));
		unsigned q = quality(span_from(range, end + 1));

		for (unsigned i = 0; i < COUNT(types); i++)
			if (span_eq_nocase(type, types[i].type) &&
			    q > best_quality) {
				best = types[i].form;
				best_quality = q;
			}
	}
	return best;
}

bool
negotiate_gzip(const struct request *request)
{
	struct span coding, rest = request->accept_encoding;
	int gzip = -1, any = -1, identity = -1;

	while (span_cut(&coding, &rest, ',')) {
		size_t end = span_find(coding, ';');
		struct span name = span_trim(span_sub(coding, 0, end));
		int q = (int)quality(span_from(coding, end + 1));

		if (span_eq_nocase(name, SPAN("gzip")) ||
		    span_eq_nocase(name, SPAN("x-gzip")))
			gzip = q;
		else if (span_eq_nocase(name, SPAN("identity")))
			identity = q;
		else if (span_eq(name, SPAN("*")))
			any = q;
	}
	if (gzip < 0)
		gzip = any;
	return gzip > 0 && gzip >= identity;
}

void
negotiate_headers(struct call *call, enum splice_form form, bool packed)
{
	static const char *const types[] = {"application/json",
	    "application/x-ndjson", "text/csv; charset=utf-8; header=present"};

	reply_header_text(call->reply, "Content-Type", span_of(types[form]));
	reply_header_text(call->reply, "Vary",
	    packed ? SPAN("Accept, Accept-Encoding") : SPAN("Accept"));
}
