/*
 * Answers of an etcd, or of what stands in for one. The first byte is the question;
 * an answer that is taken gives entries in order and a head that is a number.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/store/etcd_text.h"
#include "tests/fuzz/fuzz.h"

static uint64_t next;
static volatile char seen; /* each byte is read, for the sanitizers */

static enum err
take(void *context, uint64_t number, struct span entry)
{
	(void)context;
	FUZZ_CHECK(number == next++);
	for (size_t i = 0; i < entry.len; i++)
		seen = entry.ptr[i];
	return ERR_OK;
}

static void
look_at_entries(struct span answer)
{
	uint64_t after = 4;
	bool more;
	enum err err;

	next = after + 1;
	err = etcd_entries(answer, &after, &more, take, NULL);
	FUZZ_CHECK(
	    err == ERR_OK || err == ERR_BAD_INPUT || err == ERR_NOT_FOUND);
	FUZZ_CHECK(after + 1 == next);
}

static void
look_at_heads(struct span answer)
{
	uint64_t heads[STORE_ENVS];
	enum err err = etcd_heads(answer, SPAN("grid"), heads);

	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	for (unsigned i = 0; i < STORE_ENVS; i++)
		FUZZ_CHECK(heads[i] < INT64_MAX);
}

static void
look_at_append(struct span answer)
{
	static const char zeros[ENGINE_CHAIN_AT + ENGINE_CHAIN_LEN];
	const struct etcd_append append = {.after = 4,
	    .epoch = 1,
	    .chain = SPAN("12345678901234567890123456789012"),
	    .id = SPAN("abcdefghijklmnop"),
	    .entry = span_make(zeros, sizeof(zeros))};
	struct etcd_last last = {.begins = false};
	enum err err = etcd_appended(&last, answer, &append);

	FUZZ_CHECK(err == ERR_OK || err == ERR_BEHIND || err == ERR_FORKED ||
	    err == ERR_NOT_FOUND || err == ERR_BAD_INPUT || err == ERR_BUSY);
	FUZZ_CHECK((err == ERR_BUSY) <= (last.begins || last.len > 0));
}

static void
look_at_texts(struct span answer)
{
	char token[ETCD_TOKEN_MAX], text[ETCD_FAULT_MAX];

	FUZZ_CHECK(etcd_token(answer, token) != ERR_OK || token[0] != '\0');
	FUZZ_CHECK(strpbrk(token, " \r\n") == NULL ||
	    etcd_token(answer, token) != ERR_OK);
	etcd_fault(answer, text);
	FUZZ_CHECK(strlen(text) < sizeof(text));
}

static enum err
take_note(void *context, struct span note, struct span text)
{
	(void)context;
	for (size_t i = 0; i < note.len; i++)
		seen = note.ptr[i];
	for (size_t i = 0; i < text.len; i++)
		seen = text.ptr[i];
	return ERR_OK;
}

static void
look_for_gridctl(struct span answer)
{
	uint64_t first;
	struct buf text;
	enum err err = etcd_first(answer, &first);

	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	err = etcd_notes(answer, SPAN("grid"), take_note, NULL);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	buf_init(&text, 100);
	err = etcd_epoch(answer, &text);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK(text.len <= 100);
	buf_fini(&text);
	err = etcd_begun(answer);
	FUZZ_CHECK(err == ERR_OK || err == ERR_EXISTS || err == ERR_BAD_INPUT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Of its own length: a read behind it is seen. */
	char *copy = malloc(len == 0 ? 1 : len);
	struct span answer = span_make(copy, len == 0 ? 0 : len - 1);

	FUZZ_CHECK(copy != NULL);
	if (len > 0)
		memcpy(copy, data + 1, len - 1);
	switch (len == 0 ? 0 : data[0]) {
	case 'e':
		look_at_entries(answer);
		break;
	case 'h':
		look_at_heads(answer);
		break;
	case 'a':
		look_at_append(answer);
		break;
	case 'c':
		look_for_gridctl(answer);
		break;
	default:
		look_at_texts(answer);
	}
	free(copy);
	return 0;
}
