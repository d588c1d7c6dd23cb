#include "fcgi/search/part_row.h"

#include <assert.h>

#include "common/jscan.h"
#include "fcgi/rows/splice.h"

#define DEPTH_MAX 8 /* maps by store and month are 3 */

static enum err
take_values(struct span *values, struct jval root, const struct splice *splice)
{
	struct jwalk walk = jwalk_begin(root);
	struct jval name, value;
	unsigned count = 0;

	while (jwalk_next(&walk, &name, &value)) {
		if (count == splice->chosen_count ||
		    !jval_is(name, row_info[splice->chosen[count]].name))
			return ERR_BAD_INPUT;
		values[count++] = jval_raw(value);
	}
	return count == splice->chosen_count ? ERR_OK : ERR_BAD_INPUT;
}

/* A row is a line of its own in some formats. */
static bool
is_line(struct span text)
{
	return text.len > 0 && text.ptr[0] == '{' &&
	    text.ptr[text.len - 1] == '}' && span_find(text, '\n') == text.len;
}

enum err
part_row_read(
    struct span *values, struct span text, const struct splice *splice)
{
	struct jscan doc;
	struct fault fault;
	enum err err;

	assert(splice->chosen_count > 0);
	if (!is_line(text))
		return ERR_BAD_INPUT;
	fault_clear(&fault);
	err = jscan_parse(&doc, text, DEPTH_MAX, &fault);
	if (err != ERR_OK)
		return err == ERR_NO_MEMORY ? err : ERR_BAD_INPUT;
	err = jval_type(jscan_root(&doc)) == JOBJECT
	    ? take_values(values, jscan_root(&doc), splice)
	    : ERR_BAD_INPUT;
	jscan_fini(&doc);
	return err;
}
