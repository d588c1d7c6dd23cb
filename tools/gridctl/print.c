/* print: what commands print, and whether all of it was written. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "common/limits.h"
#include "tools/gridctl/cmd.h"

/* Once in a program: each later try meets the same disk. `errnum` 0: unknown. */
static int
not_written(int result, int errnum)
{
	static bool told;
	char why[LIMITS_TEXT_MAX];

	if (!told)
		fprintf(stderr,
		    "gridctl: what was printed could not be written in full: "
		    "%s\n",
		    errnum == 0 ? "is the disk full?"
				: limits_why(why, errnum));
	told = true;
	return result == CMD_DONE ? CMD_FAILED : result;
}

int
cmd_flush(int result)
{
	errno = 0;
	return fflush(stdout) == 0 && !ferror(stdout)
	    ? result
	    : not_written(result, errno);
}

int
cmd_print(struct buf *text, const char *command)
{
	enum err err = buf_end(text);
	int result;

	assert(command != NULL);
	errno = 0;
	if (err != ERR_OK)
		result = cmd_fail(command, err, NULL);
	else if (fwrite(text->data, 1, text->len, stdout) != text->len)
		result = not_written(CMD_DONE, errno);
	else
		result = cmd_flush(CMD_DONE);
	buf_fini(text);
	return result;
}

void
cmd_list_begin(struct cmd_list *list, bool as_json)
{
	assert(list != NULL);
	buf_init(&list->text, (size_t)1 << 34);
	jsonw_init(&list->json, &list->text);
	list->as_json = as_json;
	if (as_json)
		jsonw_array_begin(&list->json);
}

int
cmd_list_end(struct cmd_list *list, const char *command, enum err err)
{
	assert(command != NULL);
	if (list->as_json) {
		jsonw_array_end(&list->json);
		buf_add_char(&list->text, '\n');
	}
	buf_fail(&list->text, err);
	return cmd_print(&list->text, command);
}
