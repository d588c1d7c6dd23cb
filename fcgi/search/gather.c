#include "fcgi/search/gather.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/log.h"
#include "common/web/many.h"
#include "fcgi/call.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/part_row.h"
#include "fcgi/search/peers.h"
#include "lmdb-schema/state/state.h"

#define PATH "/cluster/part"
#define URL_MAX (ENGINE_NODE_TEXT_MAX + sizeof(PATH))
#define HEADER_MAX 256
/* Rows of one question: its answer ends earlier where they are many bytes. */
#define ROWS_MAX 5000u
#define ORDERS_MAX 100000u
#define ORDER_MAX ((size_t)1 << 20)
#define RETRY_S 1

enum err
gather_begin(struct gather *gather, struct call *call)
{
	buf_init(&gather->body, PART_QUESTION_MAX);
	buf_init(&gather->last, ORDER_MAX);
	gather->call = call;
	gather->count = gather->left_count = 0;
	gather->top = NULL;
	gather->cover = arena_alloc(call->serving->arena, sizeof(struct cover));
	return gather->cover == NULL ? ERR_NO_MEMORY
				     : cover_begin(gather->cover, call);
}

static void
forget(struct gather *gather)
{
	for (unsigned i = 0; i < gather->count; i++)
		buf_fini(&gather->parts[i]->answer);
	gather->count = gather->left_count = 0;
	gather->total = gather->suppliers = gather->absent = 0;
	gather->sum = 0;
	gather->top = NULL;
	buf_clear(&gather->last);
}

void
gather_end(struct gather *gather)
{
	forget(gather);
	buf_fini(&gather->body);
	buf_fini(&gather->last);
}

/* --- asking --------------------------------------------------------------- */

/* A question to a node, with what libcurl needs of it. */
struct asking {
	struct gather_part *part;
	struct part_question question;
	struct buf body;
	char url[URL_MAX], token[HEADER_MAX], seen[HEADER_MAX];
	const char *headers[4];
	int64_t since_ns; /* when it was sent */
	int status;
	enum err err;
};

/* An answer of another node is to show as much as this request does. */
static void
name_seen(char text[HEADER_MAX], struct call *call)
{
	uint64_t number = 0;

	state_view_number(&number, call->serving->views.state);
	snprintf(text, HEADER_MAX, "X-Grid-Seen: state:%" PRIu64, number);
}

static void
make_question(struct asking *asking, struct gather *gather,
    struct gather_part *part, uint64_t first, uint64_t count, bool text)
{
	uint64_t most = text ? ROWS_MAX : ORDERS_MAX;
	const char *address = part->from.address;

	asking->part = part;
	asking->err = ERR_OK;
	asking->status = 0;
	asking->since_ns = date_monotonic_ns();
	asking->question =
	    (struct part_question){.address = gather->call->request->uri,
		.first = first,
		.count = count < most ? count : most,
		.text = text,
		.wanted = part->from.wanted};
	buf_init(&asking->body, PART_QUESTION_MAX);
	if (address == NULL)
		return;
	part_question_write(&asking->body, &asking->question);
	asking->err = buf_end(&asking->body);
	snprintf(asking->url, sizeof(asking->url), "%s" PATH, address);
	snprintf(asking->token, sizeof(asking->token), "Authorization: %s",
	    gather->call->server->peers->files.token);
	name_seen(asking->seen, gather->call);
	asking->headers[0] = asking->token;
	asking->headers[1] = asking->seen;
	asking->headers[2] = "Content-Type: application/octet-stream";
	asking->headers[3] = NULL;
}

/* Whether each row is one of the columns that are asked for. */
static enum err
check_rows(struct part part, struct call *call)
{
	struct splice *splice = call->serving->splice;
	struct span values[ROW_COLUMNS];
	enum err err = ERR_OK;

	splice_columns(splice, &call->params.fields);
	while (err == ERR_OK && part_next(&part))
		err = part_row_read(values, part.text, splice);
	return err;
}

static void
tell_no_answer(const char *address, int status, enum err err, const char *why)
{
	log_warn("a node does not answer for its part of the suppliers, "
		 "others that keep them are asked: node=%s status=%d %s %s",
	    address, status, err_text(err), why);
}

/* The answer is there: is it one to that question? */
static enum err
take_answer(
    struct asking *asking, struct call *call, int status, const char *why)
{
	struct gather_part *part = asking->part;
	const char *address = part->from.address;

	asking->status = status;
	if (asking->err == ERR_OK && status != 200)
		asking->err = ERR_CLOSED;
	if (asking->err == ERR_OK)
		asking->err = part_read(&part->part, buf_span(&part->answer));
	if (asking->err == ERR_OK &&
	    part->part.suppliers + part->part.lack_count >
		part->from.wanted.count)
		asking->err = ERR_BAD_INPUT;
	if (asking->err == ERR_OK && address != NULL && asking->question.text)
		asking->err = check_rows(part->part, call);
	if (asking->err != ERR_OK && address != NULL)
		tell_no_answer(address, status, asking->err, why);
	part->next = asking->question.first;
	part->at = part->next;
	part->there = false;
	return asking->err;
}

static enum err
ask_own(struct asking *asking, struct gather *gather)
{
	struct call *call = gather->call;

	if (asking->err == ERR_OK)
		asking->err = gather->own(&asking->part->answer, call,
		    &asking->question, gather->context);
	/* The answer has copies of all that it shows. */
	call_release_held(call->serving);
	return take_answer(asking, call, 200, "");
}

static enum err
need_many(struct call *call)
{
	return call->serving->many != NULL
	    ? ERR_OK
	    : many_new(&call->serving->many, &call->server->peers->trust);
}

/* Asks other nodes, and this one meanwhile. */
static enum err
ask_all(struct gather *gather, struct asking *askings, unsigned count)
{
	struct arena *arena = gather->call->serving->arena;
	struct many_question *many =
	    arena_array(arena, count + 1u, sizeof(*many));
	struct asking **sent = arena_array(arena, count + 1u, sizeof(*sent));
	unsigned others = 0;
	enum err err = need_many(gather->call);

	if (many == NULL || sent == NULL)
		return ERR_NO_MEMORY;
	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < count; i++) {
		if (askings[i].part->from.address == NULL ||
		    askings[i].err != ERR_OK)
			continue;
		many[others] = (struct many_question){.url = askings[i].url,
		    .headers = askings[i].headers,
		    .body = buf_span(&askings[i].body),
		    .answer = &askings[i].part->answer};
		sent[others++] = &askings[i];
	}
	many_begin(gather->call->serving->many, many, others, GATHER_MS);
	for (unsigned i = 0; i < count; i++)
		if (askings[i].part->from.address == NULL)
			ask_own(&askings[i], gather);
	many_end(gather->call->serving->many);
	for (unsigned i = 0; i < others; i++) {
		sent[i]->err = many[i].err;
		take_answer(sent[i], gather->call, many[i].status, many[i].why);
	}
	return ERR_OK;
}

static enum err
new_part(struct gather *gather, const struct cover_part *from)
{
	struct gather_part *part =
	    arena_alloc(gather->call->serving->arena, sizeof(*part));

	if (part == NULL)
		return ERR_NO_MEMORY;
	assert(gather->count < GATHER_PARTS_MAX);
	*part = (struct gather_part){.from = *from};
	buf_init(&part->answer, PART_ANSWER_MAX);
	gather->parts[gather->count++] = part;
	return ERR_OK;
}

/* --- rounds --------------------------------------------------------------- */

/* Suppliers that the next round asks others for. */
struct pending {
	struct span *codes;
	unsigned count;
};

static int
compare_codes(const void *a, const void *b)
{
	return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

/* Adds suppliers that the node lacks; false: it was not asked for one of them. */
static bool
add_lacking(struct pending *pending, const struct gather_part *part)
{
	const struct scope_wanted *wanted = &part->from.wanted;
	struct unpack lacks = part->part.lacks;

	for (uint64_t i = 0; i < part->part.lack_count; i++) {
		struct span code = unpack_text(&lacks);
		const struct span *asked = bsearch(&code, wanted->codes,
		    wanted->count, sizeof(code), compare_codes);

		if (asked == NULL)
			return false;
		pending->codes[pending->count++] = *asked; /* it stays */
	}
	return true;
}

static void
add_all(struct pending *pending, const struct gather_part *part)
{
	const struct scope_wanted *wanted = &part->from.wanted;

	memcpy(pending->codes + pending->count, wanted->codes,
	    wanted->count * sizeof(*wanted->codes));
	pending->count += wanted->count;
}

/*
 * Whether a node rests then, and not for this request alone: it is not there, or
 * cannot know the question; one that answers others meanwhile is slow at this one.
 */
static bool
is_out_of_reach(const struct gather *gather, const struct asking *asking)
{
	if (asking->err == ERR_TIMED_OUT)
		return !cover_has_answered(
		    gather->cover, asking->part->from.node, asking->since_ns);
	switch (asking->status) {
	case 401:
	case 403:
	case 404:
	case 405:
	case 421: /* the last import does not come to it */
	case 502:
	case 504:
		return true;
	default:
		return asking->err == ERR_AWAY || asking->err == ERR_BAD_INPUT;
	}
}

/* Takes the answer into the sums, or its suppliers into the next round. */
static bool
take(struct gather *gather, struct asking *asking, struct pending *pending)
{
	struct gather_part *part = asking->part;
	unsigned before = pending->count;

	if (asking->err == ERR_OK && add_lacking(pending, part)) {
		gather->total += (int64_t)part->part.total;
		gather->suppliers += (int64_t)part->part.suppliers;
		gather->absent += (int64_t)(part->from.wanted.count -
		    part->part.suppliers - part->part.lack_count);
		gather->sum += part->part.sum;
		cover_answers(gather->cover, part->from.node);
		if (part->part.lack_count > 0)
			cover_is_down(gather->cover, part->from.node, false);
		return true;
	}
	pending->count = before;
	add_all(pending, part);
	cover_is_down(gather->cover, part->from.node,
	    part->from.address != NULL && is_out_of_reach(gather, asking));
	return false;
}

/* In one round parts that answer stay, `pending` becomes what is left. */
static enum err
ask_round(
    struct gather *gather, struct pending *pending, uint64_t count, bool text)
{
	struct cover *cover = gather->cover;
	unsigned first = gather->count, kept = first;
	struct asking *askings;
	enum err err = cover_make(cover, pending->codes, pending->count);

	if (err != ERR_OK)
		return err;
	askings = arena_array(
	    gather->call->serving->arena, cover->count + 1u, sizeof(*askings));
	if (askings == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < cover->count && err == ERR_OK; i++)
		err = new_part(gather, &cover->parts[i]);
	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < cover->count; i++)
		make_question(&askings[i], gather, gather->parts[first + i], 0,
		    count, text);
	err = ask_all(gather, askings, cover->count);
	pending->count = 0;
	for (unsigned i = 0; i < cover->count; i++) {
		buf_fini(&askings[i].body);
		if (err == ERR_OK && take(gather, &askings[i], pending))
			gather->parts[kept++] = askings[i].part;
		else
			buf_fini(&askings[i].part->answer);
	}
	gather->count = kept;
	for (unsigned i = 0; i < cover->left_count; i++)
		gather->left[gather->left_count++] = cover->left[i];
	qsort(pending->codes, pending->count, sizeof(*pending->codes),
	    compare_codes);
	return err;
}

enum err
gather_ask(struct gather *gather, const struct span *codes, unsigned code_count,
    uint64_t count, bool text)
{
	struct arena *arena = gather->call->serving->arena;
	struct pending pending;
	enum err err = ERR_OK;

	forget(gather);
	gather->text = text;
	pending.count = code_count;
	pending.codes =
	    arena_array(arena, code_count + 1u, sizeof(*pending.codes));
	gather->left =
	    arena_array(arena, code_count + 1u, sizeof(*gather->left));
	if (pending.codes == NULL || gather->left == NULL)
		return ERR_NO_MEMORY;
	if (code_count > 0)
		memcpy(pending.codes, codes, code_count * sizeof(*codes));
	for (unsigned i = 0; i < GATHER_ROUNDS && pending.count > 0; i++) {
		err = ask_round(gather, &pending, count, text);
		if (err != ERR_OK)
			return err;
	}
	for (unsigned i = 0; i < pending.count; i++)
		gather->left[gather->left_count++] = pending.codes[i];
	gather->absent += gather->left_count;
	return ERR_OK;
}

/* --- rows in order -------------------------------------------------------- */

/* Whether what was said before does not hold any more. */
static bool
has_changed(const struct gather *gather, const struct asking *asking,
    const struct part *before)
{
	const struct part *now = &asking->part->part;

	return asking->err != ERR_OK || now->total != before->total ||
	    now->suppliers != before->suppliers ||
	    now->places != before->places ||
	    (!gather->steady && now->sum != before->sum);
}

/* So that the node that took most of the time is not asked again. */
static enum err
give_up(struct gather *gather)
{
	const struct gather_part *slow = gather->parts[0];

	for (unsigned i = 1; i < gather->count; i++)
		if (gather->parts[i]->waited_ns > slow->waited_ns)
			slow = gather->parts[i];
	if (slow->from.address != NULL) {
		tell_no_answer(slow->from.address, 200, ERR_TIMED_OUT,
		    "its rows come too slowly");
		cover_is_down(gather->cover, slow->from.node, true);
	}
	return ERR_BUSY;
}

/* Asks for what follows. */
static enum err
ask_more(struct gather *gather, struct gather_part *part, uint64_t first,
    uint64_t count, bool text)
{
	struct part before = part->part;
	struct asking asking;
	int64_t took_ns;
	enum err err;

	if (gather->more_ns <= 0)
		return give_up(gather);
	make_question(&asking, gather, part, first, count, text);
	err = ask_all(gather, &asking, 1);
	buf_fini(&asking.body);
	took_ns = date_monotonic_ns() - asking.since_ns;
	part->waited_ns += took_ns;
	gather->more_ns -= took_ns;
	if (err == ERR_OK && has_changed(gather, &asking, &before))
		err = ERR_BUSY;
	return err;
}

/* To the part's next row, which may need another question. */
static enum err
advance(struct gather *gather, struct gather_part *part, uint64_t wanted)
{
	enum err err;

	part->there = part_next(&part->part);
	if (!part->there && part->next < part->part.total && wanted > 0) {
		err = ask_more(gather, part, part->next, wanted, gather->text);
		if (err != ERR_OK)
			return err;
		part->there = part_next(&part->part);
		if (!part->there)
			return ERR_BUSY; /* it has fewer than it said */
	}
	part->at = part->next;
	part->next += part->there;
	return ERR_OK;
}

static void
find_top(struct gather *gather)
{
	gather->top = NULL;
	for (unsigned i = 0; i < gather->count; i++) {
		struct gather_part *part = gather->parts[i];

		if (part->there &&
		    (gather->top == NULL ||
			span_cmp(part->part.order, gather->top->part.order) <
			    0))
			gather->top = part;
	}
}

/* Rows of two nodes are not the same one, and none comes too late. */
static enum err
check_order(struct gather *gather)
{
	struct span order = gather->top->part.order;
	bool behind = gather->last.len == 0 ||
	    span_cmp(buf_span(&gather->last), order) < 0;

	buf_clear(&gather->last);
	buf_add_span(&gather->last, order);
	return behind ? buf_end(&gather->last) : ERR_BUSY;
}

/* Passes the top row. */
static enum err
step(struct gather *gather, uint64_t wanted)
{
	enum err err = check_order(gather);

	if (err == ERR_OK)
		err = advance(gather, gather->top, wanted);
	if (err == ERR_OK)
		find_top(gather);
	return err;
}

static enum err
begin_rows(struct gather *gather, uint64_t wanted)
{
	enum err err = ERR_OK;

	for (unsigned i = 0; i < gather->count && err == ERR_OK; i++)
		err = advance(gather, gather->parts[i], wanted);
	find_top(gather);
	return err;
}

/* Asks all nodes for the page's rows, from where each of them is. */
static enum err
ask_page(struct gather *gather, uint64_t count)
{
	struct asking *askings = arena_array(
	    gather->call->serving->arena, gather->count + 1u, sizeof(*askings));
	struct part *before = arena_array(
	    gather->call->serving->arena, gather->count + 1u, sizeof(*before));
	unsigned asked = 0;
	enum err err;

	if (askings == NULL || before == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < gather->count; i++) {
		struct gather_part *part = gather->parts[i];

		if (!part->there)
			continue; /* all its rows were passed */
		before[asked] = part->part;
		make_question(
		    &askings[asked++], gather, part, part->at, count, true);
	}
	err = ask_all(gather, askings, asked);
	for (unsigned i = 0; i < asked; i++) {
		buf_fini(&askings[i].body);
		if (err == ERR_OK &&
		    has_changed(gather, &askings[i], &before[i]))
			err = ERR_BUSY;
	}
	gather->text = true;
	return err == ERR_OK ? begin_rows(gather, count) : err;
}

/* Totals are what nodes say: beyond so many rows they add no time. */
#define PATIENT_ROWS UINT32_MAX

static int64_t
more_ns(uint64_t rows)
{
	uint64_t counted = rows < PATIENT_ROWS ? rows : PATIENT_ROWS;

	return (GATHER_MORE_MS + (int64_t)counted * GATHER_ROW_MS) * 1000000;
}

enum err
gather_seek(struct gather *gather, uint64_t first, uint64_t count)
{
	enum err err = ERR_OK;

	assert((int64_t)(first + count) <= gather->total);
	gather->rows = count;
	gather->more_ns = more_ns(first + count);
	gather->shown = false;
	if (count == 0)
		return ERR_OK;
	assert(gather->text == (first == 0));
	err = begin_rows(gather, first + count);
	for (uint64_t i = 0; i < first && err == ERR_OK; i++)
		err = gather->top == NULL ? ERR_BUSY
					  : step(gather, first + count - i);
	return err == ERR_OK && first > 0 ? ask_page(gather, count) : err;
}

enum err
gather_next(struct gather *gather, struct span *text)
{
	enum err err = ERR_OK;

	assert(gather->rows > 0);
	/* Not before: the bytes of the row before were the caller's. */
	if (gather->shown)
		err = step(gather, gather->rows);
	if (err == ERR_OK && gather->top == NULL)
		err = ERR_BUSY;
	if (err != ERR_OK)
		return err;
	gather->shown = true;
	gather->rows--;
	*text = gather->top->part.text;
	return ERR_OK;
}

enum err
gather_refuse(struct call *call)
{
	reply_fail(call->reply, 503, CODE_INTERNAL,
	    "What several nodes were asked for has changed meanwhile, or comes "
	    "too slowly: repeat the request.");
	reply_header(call->reply, "Retry-After", "%d", RETRY_S);
	return ERR_ANSWERED;
}
