/*
 * peer_sqlite FILE SOCKET [PROCESSES [THREADS]]: pages and searches out of
 * SQLite, by prepared statements and FTS5's trigram index. peer.h says of which
 * tables; "fts" is the index over search.text.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/utf8.h"
#include "tests/bench/peer.h"

#define STATEMENTS 256

static const char *file;

struct connection {
	sqlite3 *db;
	unsigned count;
	sqlite3_stmt *statements[STATEMENTS];
};

static void *
open_connection(void)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection == NULL)
		return NULL;
	if (sqlite3_open_v2(file, &connection->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
		NULL) == SQLITE_OK &&
	    sqlite3_exec(connection->db,
		"PRAGMA mmap_size = 17179869184; PRAGMA cache_size = -65536;"
		"PRAGMA locking_mode = NORMAL; PRAGMA temp_store = MEMORY",
		NULL, NULL, NULL) == SQLITE_OK)
		return connection;
	log_error("%s: %s", file, sqlite3_errmsg(connection->db));
	return NULL;
}

static sqlite3_stmt *
prepare(struct connection *connection, const char *sql)
{
	unsigned i;

	for (i = 0; i < connection->count; i++)
		if (strcmp(sqlite3_sql(connection->statements[i]), sql) == 0)
			return connection->statements[i];
	if (i == STATEMENTS ||
	    sqlite3_prepare_v3(connection->db, sql, -1,
		SQLITE_PREPARE_PERSISTENT, &connection->statements[i],
		NULL) != SQLITE_OK) {
		log_error("%s: %s", sqlite3_errmsg(connection->db), sql);
		return NULL;
	}
	return connection->statements[connection->count++];
}

static void
bind(sqlite3_stmt *statement, char *const *params, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char name[16];
		int at;

		snprintf(name, sizeof(name), "$%u", i + 1);
		at = sqlite3_bind_parameter_index(statement, name);
		if (at > 0)
			sqlite3_bind_text(
			    statement, at, params[i], -1, SQLITE_STATIC);
	}
}

static void
give_row(sqlite3_stmt *statement, peer_row *row, void *context)
{
	struct span cells[PEER_CELLS];
	int count = sqlite3_column_count(statement);

	for (int i = 0; i < count && i < PEER_CELLS; i++) {
		const void *text = sqlite3_column_text(statement, i);

		cells[i] = span_make(text,
		    text == NULL ? 0
				 : (size_t)sqlite3_column_bytes(statement, i));
	}
	row(context, cells);
}

static enum err
query(void *db, const char *sql, char *const *params, unsigned count,
    peer_row *row, void *context)
{
	struct connection *connection = db;
	sqlite3_stmt *statement = prepare(connection, sql);
	int step;

	if (statement == NULL)
		return ERR_INTERNAL;
	bind(statement, params, count);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW)
		give_row(statement, row, context);
	if (step != SQLITE_DONE)
		log_error("%s", sqlite3_errmsg(connection->db));
	sqlite3_reset(statement);
	return step == SQLITE_DONE ? ERR_OK : ERR_INTERNAL;
}

static void
add_phrase(struct buf *phrases, struct span word)
{
	if (phrases->len > 0)
		buf_add_text(phrases, " AND ");
	buf_add_char(phrases, '"');
	for (size_t i = 0; i < word.len; i++) {
		if (word.ptr[i] == '"')
			buf_add_char(phrases, '"');
		buf_add_char(phrases, word.ptr[i]);
	}
	buf_add_char(phrases, '"');
}

/* The index knows words of three characters on; shorter ones are scanned. */
static void
match(struct buf *sql, struct peer_params *params, struct span words,
    bool in_supplier)
{
	struct span word, rest = words;
	struct buf phrases, tests;
	const char *id = "s.id";

	buf_init(&phrases, 65536);
	buf_init(&tests, 65536);
	while (span_cut(&word, &rest, ' ')) {
		if (utf8_count(word) >= 3) {
			add_phrase(&phrases, word);
			continue;
		}
		peer_param(params, word);
		buf_addf(&tests, " AND instr(s.text, $%u)", params->count);
	}
	if (phrases.len == 0)
		buf_add_text(sql, "SELECT s.id AS id FROM search s WHERE 1");
	else {
		peer_param(params, buf_span(&phrases));
		id = "fts.rowid";
		buf_addf(sql,
		    "SELECT fts.rowid AS id FROM fts%s WHERE fts MATCH $%u",
		    tests.len == 0 ? "" : " JOIN search s ON s.id = fts.rowid",
		    params->count);
	}
	buf_add_span(sql, buf_span(&tests));
	if (in_supplier)
		buf_addf(sql,
		    " AND %s BETWEEN (SELECT first FROM suppliers WHERE "
		    "code = $1) AND (SELECT last FROM suppliers WHERE "
		    "code = $1)",
		    id);
	buf_fini(&phrases);
	buf_fini(&tests);
}

/* Nulls come first in its indexes: "is it null" stands before the column. */
static void
order(struct buf *sql, const char *table, const char *column, bool descending)
{
	if (descending)
		buf_addf(sql, "%s.\"%s\" DESC", table, column);
	else
		buf_addf(sql, "%s.\"%s\" IS NULL, %s.\"%s\"", table, column,
		    table, column);
}

int
main(int argc, char **argv)
{
	static const struct peer peer = {open_connection, query, match, order};

	if (argc < 3) {
		fputs("usage: peer_sqlite FILE SOCKET [PROCESSES [THREADS]]\n",
		    stderr);
		return 2;
	}
	log_open("peer_sqlite", LOG_WARN_);
	file = argv[1];
	return peer_main(&peer, argc, argv, 2);
}
