#include "fcgi/rows/negotiate.h"

#include <assert.h>

#include "common/count.h"
#include "fcgi/call.h"
#include "fcgi/http/coding.h"
#include "fcgi/rows/splice.h"

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
		unsigned q = coding_weight(span_from(range, end + 1));

		for (unsigned i = 0; i < COUNT(types); i++)
			if (span_eq_nocase(type, types[i].type) &&
			    q > best_quality) {
				best = types[i].form;
				best_quality = q;
			}
	}
	return best;
}

void
negotiate_headers(struct call *call, enum splice_form form)
{
	static const char *const types[] = {"application/json",
	    "application/x-ndjson", "text/csv; charset=utf-8; header=present"};

	assert(form <= SPLICE_CSV);
	reply_header_text(call->reply, "Content-Type", span_of(types[form]));
	call->reply->by_accept = true;
}
