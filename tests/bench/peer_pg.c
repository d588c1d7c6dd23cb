/*
 * peer_pg CONNINFO SOCKET [PROCESSES [THREADS]]: pages and searches out of
 * PostgreSQL, by libpq and prepared statements. peer.h says of which tables.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "tests/bench/peer.h"

#define STATEMENTS 256

static const char *conninfo;

struct connection {
	PGconn *pg;
	unsigned count;
	char *sql[STATEMENTS]; /* of the statement that is named by its place */
};

static void *
open_connection(void)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection == NULL)
		return NULL;
	connection->pg = PQconnectdb(conninfo);
	if (PQstatus(connection->pg) == CONNECTION_OK)
		return connection;
	log_error("PostgreSQL: %s", PQerrorMessage(connection->pg));
	return NULL;
}

/* True when it may be executed under `name`. */
static bool
prepare(struct connection *connection, const char *sql, char name[16])
{
	unsigned i = 0;
	PGresult *result;
	bool good;

	while (i < connection->count && strcmp(connection->sql[i], sql) != 0)
		i++;
	snprintf(name, 16, "s%u", i);
	if (i < connection->count)
		return true;
	if (i == STATEMENTS || (connection->sql[i] = strdup(sql)) == NULL)
		return false;
	result = PQprepare(connection->pg, name, sql, 0, NULL);
	good = PQresultStatus(result) == PGRES_COMMAND_OK;
	if (good)
		connection->count++;
	else {
		log_error("%s%s", PQerrorMessage(connection->pg), sql);
		free(connection->sql[i]);
	}
	PQclear(result);
	return good;
}

static void
give_rows(const PGresult *result, peer_row *row, void *context)
{
	struct span cells[PEER_CELLS];

	for (int i = 0; i < PQntuples(result); i++) {
		for (int j = 0; j < PQnfields(result) && j < PEER_CELLS; j++)
			cells[j] = PQgetisnull(result, i, j)
			    ? (struct span){NULL, 0}
			    : span_make(PQgetvalue(result, i, j),
				  (size_t)PQgetlength(result, i, j));
		row(context, cells);
	}
}

static enum err
query(void *db, const char *sql, char *const *params, unsigned count,
    peer_row *row, void *context)
{
	struct connection *connection = db;
	char name[16];
	PGresult *result;
	enum err err = ERR_OK;

	if (!prepare(connection, sql, name))
		return ERR_INTERNAL;
	result = PQexecPrepared(connection->pg, name, (int)count,
	    (const char *const *)params, NULL, NULL, 0);
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		give_rows(result, row, context);
	else {
		log_error("%s", PQerrorMessage(connection->pg));
		err = ERR_INTERNAL;
	}
	PQclear(result);
	return err;
}

/* "%word%", with what LIKE takes for its own escaped. */
static void
add_pattern(struct peer_params *params, struct span word)
{
	struct buf pattern;

	buf_init(&pattern, 4096);
	buf_add_char(&pattern, '%');
	for (size_t i = 0; i < word.len; i++) {
		if (strchr("%_\\", word.ptr[i]) != NULL)
			buf_add_char(&pattern, '\\');
		buf_add_char(&pattern, word.ptr[i]);
	}
	buf_add_char(&pattern, '%');
	peer_param(params, buf_span(&pattern));
	buf_fini(&pattern);
}

static void
match(struct buf *sql, struct peer_params *params, struct span words,
    bool in_supplier)
{
	struct span word, rest = words;
	const char *and = in_supplier ? " AND " : " WHERE ";

	buf_add_text(sql, "SELECT id FROM search");
	if (in_supplier)
		buf_add_text(sql, " WHERE fournisseur = $1");
	while (span_cut(&word, &rest, ' ')) {
		add_pattern(params, word);
		buf_addf(sql, "%stext LIKE $%u", and, params->count);
		and = " AND ";
	}
}

static void
order(struct buf *sql, const char *table, const char *column, bool descending)
{
	buf_addf(sql, "%s.\"%s\" %s NULLS LAST", table, column,
	    descending ? "DESC" : "ASC");
}

int
main(int argc, char **argv)
{
	static const struct peer peer = {open_connection, query, match, order};

	if (argc < 3) {
		fputs("usage: peer_pg CONNINFO SOCKET [PROCESSES [THREADS]]\n",
		    stderr);
		return 2;
	}
	log_open("peer_pg", LOG_WARN_);
	conninfo = argv[1];
	return peer_main(&peer, argc, argv, 2);
}
