/*
 * The senders' file, and behind a line of "%%" a request: a line with the name
 * of a sender, header lines, an empty line, the body. The date is the one of
 * the corpus.
 */
#include <string.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/senders.h"

#define NOW 1614265330

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static struct span
header_of(void *arg, const char *name)
{
	struct span rest = *(const struct span *)arg, line, wanted;

	wanted = span_of(name);
	while (span_cut(&line, &rest, '\n') && line.len > 0) {
		size_t colon = span_find(line, ':');

		if (span_eq(span_sub(line, 0, colon), wanted))
			return span_trim(span_from(line, colon + 1));
	}
	return span_make(NULL, 0);
}

static void
ask(const struct senders *senders, struct span text)
{
	const struct senders_request request = {header_of, &text};
	const struct sender *sender;
	enum sender_proof proof;
	struct span name, body = SPAN("");
	const char *end;

	if (!span_cut(&name, &text, '\n') || text.ptr == NULL)
		return;
	end = memmem(text.ptr, text.len, "\n\n", 2);
	if (end != NULL)
		body = span_from(text, (size_t)(end - text.ptr) + 2);
	sender = senders_find(senders, name);
	if (sender == NULL)
		return;
	proof = sender_head(sender, &request);
	if (sender_signed(sender, &request, body, NOW))
		FUZZ_CHECK(proof == SENDER_SIGNED);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span whole = span_make(data, len), file = whole;
	const char *cut = len == 0 ? NULL : memmem(data, len, "\n%%\n", 4);
	struct fault fault = {.place = ""};
	struct senders *senders = NULL;
	enum err err;

	log_catch(drop_line);
	if (cut != NULL)
		file = span_sub(whole, 0, (size_t)(cut - whole.ptr) + 1);
	err = senders_read(&senders, "file", file, &fault);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK((err == ERR_OK) == (senders != NULL));
	FUZZ_CHECK((err == ERR_OK) == !fault_is_set(&fault));
	if (err == ERR_OK && cut != NULL)
		ask(senders, span_from(whole, file.len + 3));
	senders_close(senders);
	return 0;
}
