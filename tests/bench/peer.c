#include "tests/bench/peer.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/fold.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/http/query.h"
#include "lmdb-schema/row.h"
#include "tests/bench/responder.h"

#define BODY_MAX ((size_t)1 << 30)

static const struct peer *peer;

/* A thread's. */
struct own {
	void *db;
	struct arena *arena;
	struct buf body, sql, words;
};

/* The request, and the rows found for it so far. */
struct ask {
	struct own *own;
	struct query query;
	bool fields[ROW_COLUMNS];
	bool whole; /* no fields: whole rows */
	struct span supplier, search;
	int64_t page, limit;
	struct peer_params params;
	int64_t total;
	bool any;
};

static struct span
value_of(const struct query *query, struct span name)
{
	for (unsigned i = 0; i < query->pair_count; i++)
		if (span_eq(query->pairs[i].name, name))
			return query->pairs[i].value;
	return SPAN("");
}

static void
take_fields(struct ask *ask, struct span list)
{
	struct span name, rest = list;

	ask->whole = list.len == 0;
	ask->fields[COL_codein] = true;
	while (span_cut(&name, &rest, ',')) {
		int column = row_column(name);

		if (column >= 0)
			ask->fields[column] = true;
	}
}

void
peer_param(struct peer_params *params, struct span text)
{
	char *copy = arena_alloc(params->arena, text.len + 1);

	if (copy == NULL || params->count == PEER_PARAMS)
		abort(); /* more than any request of the benchmark has */
	memcpy(copy, text.ptr, text.len);
	params->text[params->count++] = copy;
}

static void
add_number(struct ask *ask, int64_t value)
{
	char text[NUM_TEXT_MAX];

	peer_param(&ask->params, span_make(text, num_int_text(text, value)));
}

/* --- the SQL -------------------------------------------------------------- */

static void
add_columns(struct buf *sql, const struct ask *ask)
{
	if (ask->whole) {
		buf_add_text(sql, "d.doc");
		return;
	}
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		if (ask->fields[i])
			buf_addf(sql, "%sr.\"%.*s\"",
			    i == COL_codein ? "" : ", ",
			    SPAN_ARG(row_info[i].name));
}

static const char *
joined(const struct ask *ask)
{
	return ask->whole ? "docs d ON d.id = t.id" : "rows r ON r.id = t.id";
}

/* " WHERE …" of a grid. */
static void
add_where(struct buf *sql, struct ask *ask)
{
	static const struct {
		struct span name;
		const char *column;
	} filters[] = {{{"gamme", 5}, "codeGamme"}, {{"code1", 5}, "code1"}};

	buf_add_text(sql, " WHERE \"codeFournisseur\" = $1");
	for (unsigned i = 0; i < 2; i++) {
		struct span value = value_of(&ask->query, filters[i].name);

		if (value.len == 0)
			continue;
		peer_param(&ask->params, value);
		buf_addf(sql, " AND \"%s\" = $%u", filters[i].column,
		    ask->params.count);
	}
}

/* The column that is sorted by: folded when it is text. */
static void
sort_column(char *name, size_t size, struct span sort)
{
	int column = row_column(sort);
	bool text = column > COL_codein && row_info[column].type == ROW_TEXT;

	snprintf(name, size, "%.*s%s", SPAN_ARG(sort), text ? "_f" : "");
}

static void
add_limits(struct buf *sql, struct ask *ask)
{
	add_number(ask, ask->limit);
	add_number(ask, (ask->page - 1) * ask->limit);
	buf_addf(sql, " LIMIT $%u OFFSET $%u", ask->params.count - 1,
	    ask->params.count);
}

/*
 * A page: its ids out of an index alone, then the hundred rows. Without a
 * filter the total is a stored number.
 */
static void
grid_sql(struct buf *sql, struct ask *ask)
{
	struct span sort = value_of(&ask->query, SPAN("sort"));
	bool descending =
	    !span_eq(value_of(&ask->query, SPAN("order")), SPAN("asc"));
	char column[64];
	struct buf where;

	buf_init(&where, 4096);
	peer_param(&ask->params, ask->supplier);
	add_where(&where, ask);
	sort_column(
	    column, sizeof(column), sort.len == 0 ? SPAN("totalCa") : sort);
	buf_add_text(sql, "SELECT (SELECT ");
	if (ask->params.count == 1)
		buf_add_text(sql, "total FROM suppliers WHERE code = $1), ");
	else {
		buf_add_text(sql, "count(*) FROM rows");
		buf_add_span(sql, buf_span(&where));
		buf_add_text(sql, "), ");
	}
	add_columns(sql, ask);
	buf_addf(sql,
	    " FROM (SELECT id, \"%s\", codein FROM rows%.*s ORDER BY ", column,
	    SPAN_ARG(buf_span(&where)));
	peer->order(sql, "rows", column, descending);
	buf_add_text(sql, ", codein");
	add_limits(sql, ask);
	buf_addf(sql, ") t JOIN %s ORDER BY ", joined(ask));
	peer->order(sql, "t", column, descending);
	buf_add_text(sql, ", t.codein");
	buf_fini(&where);
}

/* Ids are in the order of turnover: a search sorts by nothing else. */
static void
search_sql(struct buf *sql, struct ask *ask)
{
	bool in_supplier = ask->supplier.len > 0;

	if (in_supplier)
		peer_param(&ask->params, ask->supplier);
	buf_add_text(sql, "WITH m AS MATERIALIZED (");
	peer->match(sql, &ask->params, buf_span(&ask->own->words), in_supplier);
	buf_add_text(sql, ") SELECT (SELECT count(*) FROM m), ");
	add_columns(sql, ask);
	buf_add_text(sql, " FROM (SELECT id FROM m ORDER BY id");
	add_limits(sql, ask);
	buf_addf(sql, ") t JOIN %s ORDER BY t.id", joined(ask));
}

/* --- the answer ----------------------------------------------------------- */

static void
add_row(void *context, const struct span *cells)
{
	struct ask *ask = context;
	struct buf *body = &ask->own->body;
	char before = '{';

	ask->any = true;
	num_int(&ask->total, cells[0], 0, INT64_MAX);
	cells++;
	if (ask->whole) {
		buf_add_span(body, *cells);
		buf_add_char(body, ',');
		return;
	}
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		if (!ask->fields[i])
			continue;
		buf_add_char(body, before);
		before = ',';
		buf_add_char(body, '"');
		buf_add_span(body, row_info[i].name);
		buf_add_text(body, "\":");
		if (cells->ptr == NULL)
			buf_add_text(body, "null");
		else if (row_is_number(i) && row_info[i].type != ROW_DATE)
			buf_add_span(body, *cells);
		else
			jsonw_quote(body, *cells);
		cells++;
	}
	buf_add_text(body, "},");
}

static enum err
send(struct ask *ask, int64_t start_ns, struct sink *out)
{
	struct buf *body = &ask->own->body;
	char head[256];
	struct iovec pieces[2] = {{head, 0}};

	if (ask->any)
		body->len--; /* the last comma */
	buf_addf(body,
	    "],\"pagination\":{\"page\":%lld,\"limit\":%lld,\"total\":%lld}}",
	    (long long)ask->page, (long long)ask->limit, (long long)ask->total);
	pieces[0].iov_len = (size_t)snprintf(head, sizeof(head),
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Server-Timing: app;dur=%.3f\r\nContent-Length: %zu\r\n\r\n",
	    (double)(date_monotonic_ns() - start_ns) / 1e6, body->len);
	pieces[1] = (struct iovec){body->data, body->len};
	return buf_end(body) == ERR_OK ? out->put(out, pieces, 2)
				       : buf_end(body);
}

static int64_t
number_of(const struct query *query, struct span name, int64_t fallback)
{
	num_int(&fallback, value_of(query, name), 1, INT32_MAX);
	return fallback;
}

/* ERR_BAD_INPUT: nothing that these programs answer. */
static enum err
read_ask(struct ask *ask, struct own *own, struct span uri)
{
	const struct query *query = &ask->query;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	ask->own = own;
	ask->params.arena = own->arena;
	err = query_parse(&ask->query, uri, own->arena, &fault);
	if (err != ERR_OK)
		return err;
	take_fields(ask, value_of(query, SPAN("fields")));
	ask->supplier = value_of(query, SPAN("fournisseur"));
	ask->search = value_of(query, SPAN("search"));
	if (ask->search.len == 0)
		ask->search = value_of(query, SPAN("q"));
	ask->page = number_of(query, SPAN("page"), 1);
	ask->limit = number_of(query, SPAN("limit"), 100);
	fold_add(&own->words, ask->search);
	return buf_end(&own->words);
}

static enum err
answer(void *context, struct span uri, int64_t start_ns, struct sink *out)
{
	struct own *own = context;
	struct ask ask = {0};
	enum err err;

	arena_reset(own->arena);
	buf_clear(&own->body);
	buf_clear(&own->sql);
	buf_clear(&own->words);
	err = read_ask(&ask, own, uri);
	if (err != ERR_OK)
		return err;
	if (ask.search.len > 0)
		search_sql(&own->sql, &ask);
	else
		grid_sql(&own->sql, &ask);
	buf_add_char(&own->sql, '\0');
	buf_add_text(&own->body, "{\"data\":[");
	err = buf_end(&own->sql);
	if (err == ERR_OK)
		err = peer->query(own->db, own->sql.data, ask.params.text,
		    ask.params.count, add_row, &ask);
	return err == ERR_OK ? send(&ask, start_ns, out) : err;
}

static void *
open_own(void)
{
	struct own *own = calloc(1, sizeof(*own));

	if (own == NULL)
		return NULL;
	own->arena = arena_new((size_t)1 << 20);
	buf_init(&own->body, BODY_MAX);
	buf_init(&own->sql, 1 << 16);
	buf_init(&own->words, 1 << 16);
	own->db = peer->open();
	return own->arena == NULL || own->db == NULL ? NULL : own;
}

int
peer_main(const struct peer *what, int argc, char **argv, int at)
{
	static const struct responder responder = {open_own, answer};

	peer = what;
	return responder_run(&responder, argc, argv, at);
}
