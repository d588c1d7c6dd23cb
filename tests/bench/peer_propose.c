/*
 * peer_propose FILE SOCKET: POST /gammes out of SQLite, in the form its manual
 * advises: one transaction, prepared statements, WAL, synchronous=FULL. It
 * reads the body, looks every article up, upserts, writes a trail and answers
 * the same JSON as gridapi, which it stands in for behind nginx. It checks no
 * key and has no other endpoint. tests/bench/proposals.py makes the tables.
 */
#include <fcgiapp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/jsonr.h"
#include "common/jsonw.h"
#include "fcgi/process/record.h"

#define BODY_MAX ((size_t)8 << 20)
#define BODY_STEP 16384

enum { BEGIN, FIND, UPSERT, TRAIL, COMMIT, ROLLBACK, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [FIND] = "SELECT a.gamme, v.gamme, p.gamme FROM articles a"
	     " LEFT JOIN validated v USING (fournisseur, codein)"
	     " LEFT JOIN pending p USING (fournisseur, codein)"
	     " WHERE a.fournisseur = ?1 AND a.codein = ?2",
    [UPSERT] = "INSERT INTO pending VALUES (?1, ?2, ?3, 'robot', ?4)"
	       " ON CONFLICT (fournisseur, codein) DO UPDATE SET"
	       " gamme = excluded.gamme, author = excluded.author,"
	       " at = excluded.at",
    [TRAIL] = "INSERT INTO audit"
	      " (at, event, actor, fournisseur, codein, gamme, before)"
	      " VALUES (?4, ?5, 'robot', ?1, ?2, ?3, ?6)",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
};

static sqlite3 *db;
static sqlite3_stmt *statements[STATEMENTS];

/* A change and its outcome; texts are the body's or a statement's. */
struct change {
	struct span supplier, codein, gamme;
	char before[2], older[2];
	int64_t now_ms;
};

static void
bind(int which, int at, struct span text)
{
	sqlite3_bind_text(
	    statements[which], at, text.ptr, (int)text.len, SQLITE_STATIC);
}

static bool
run(int which)
{
	int code = sqlite3_step(statements[which]);

	sqlite3_reset(statements[which]);
	return code == SQLITE_DONE;
}

static void
take_letter(char letter[2], int column)
{
	const unsigned char *text =
	    sqlite3_column_text(statements[FIND], column);

	if (text != NULL)
		letter[0] = (char)text[0];
}

/* False: there is no such article. */
static bool
find(struct change *change)
{
	bool found;

	bind(FIND, 1, change->supplier);
	bind(FIND, 2, change->codein);
	found = sqlite3_step(statements[FIND]) == SQLITE_ROW;
	change->before[0] = change->older[0] = '\0';
	if (found) {
		take_letter(change->before, 0);
		take_letter(change->before, 1);
		take_letter(change->older, 2);
	}
	sqlite3_reset(statements[FIND]);
	return found;
}

static bool
store(const struct change *change)
{
	bool replaces = change->older[0] != '\0';

	for (int which = UPSERT; which <= TRAIL; which++) {
		bind(which, 1, change->supplier);
		bind(which, 2, change->codein);
		bind(which, 3, change->gamme);
		sqlite3_bind_int64(statements[which], 4, change->now_ms);
	}
	bind(TRAIL, 5, replaces ? SPAN("replaced") : SPAN("proposed"));
	bind(TRAIL, 6, span_of(replaces ? change->older : change->before));
	return run(UPSERT) && run(TRAIL);
}

static void
add_result(struct jsonw *json, const struct change *change)
{
	jsonw_object_begin(json);
	jsonw_key(json, "codein");
	jsonw_string(json, change->codein);
	jsonw_key(json, "gamme");
	jsonw_string(json, change->gamme);
	jsonw_key(json, "gammePrecedente");
	jsonw_string(json, span_of(change->before));
	jsonw_key(json, "codeGammeServeur");
	jsonw_string(json, span_of(change->before));
	jsonw_key(json, "modifie");
	jsonw_bool(json, true);
	jsonw_key(json, "statut");
	jsonw_string(json, SPAN("a_valider"));
	jsonw_object_end(json);
}

/* All of them, or none. */
static bool
propose(struct jsonw *json, const struct jsonr_value *root)
{
	const struct jsonr_value *list = jsonr_member(root, "changes");
	struct change change = {.now_ms = date_now_ms()};
	bool ok = run(BEGIN);

	change.supplier = jsonr_as_string(jsonr_member(root, "fournisseur"));
	for (size_t i = 0; i < jsonr_count(list) && ok; i++) {
		const struct jsonr_value *item = jsonr_at(list, i);

		change.codein = jsonr_as_string(jsonr_member(item, "codein"));
		change.gamme = jsonr_as_string(jsonr_member(item, "gamme"));
		ok = find(&change) && store(&change);
		if (ok)
			add_result(json, &change);
	}
	run(ok ? COMMIT : ROLLBACK);
	return ok;
}

static enum err
answer(struct buf *out, struct span body)
{
	const struct jsonr_limits limits = {BODY_MAX, 8, 1, NULL};
	struct jsonr *doc;
	struct fault fault;
	struct jsonw json;
	bool ok;
	enum err err = jsonr_parse(&doc, body, &limits, &fault);

	if (err != ERR_OK)
		return err;
	buf_clear(out);
	buf_add_text(out, "Content-Type: application/json\r\n\r\n");
	jsonw_init(&json, out);
	jsonw_object_begin(&json);
	jsonw_key(&json, "data");
	jsonw_array_begin(&json);
	ok = propose(&json, jsonr_root(doc));
	jsonw_array_end(&json);
	jsonw_key(&json, "meta");
	jsonw_object_begin(&json);
	jsonw_key(&json, "modifies");
	jsonw_int(&json,
	    (int64_t)jsonr_count(jsonr_member(jsonr_root(doc), "changes")));
	jsonw_object_end(&json);
	jsonw_object_end(&json);
	jsonr_free(doc);
	return ok ? buf_end(out) : ERR_NOT_FOUND;
}

static void
read_body(struct buf *body, FCGX_Stream *in)
{
	int len = BODY_STEP;

	buf_clear(body);
	while (len == BODY_STEP) {
		char *room = buf_room(body, BODY_STEP);

		if (room == NULL)
			return;
		len = FCGX_GetStr(room, BODY_STEP, in);
		buf_grown(body, (size_t)len);
	}
}

static int
serve(int listener)
{
	FCGX_Request request;
	struct record record;
	struct buf body, out;

	buf_init(&body, BODY_MAX);
	buf_init(&out, (size_t)64 << 20);
	if (record_init(&record) != ERR_OK ||
	    FCGX_InitRequest(&request, listener, 0) != 0)
		return 1;
	while (FCGX_Accept_r(&request) == 0) {
		struct sink sink = record_sink(&record);

		read_body(&body, request.in);
		record_begin(
		    &record, request.ipcFd, (unsigned)request.requestId);
		/* Cuts a connection that failed; the client fails with it. */
		if (answer(&out, buf_span(&body)) == ERR_OK &&
		    sink_put(&sink, buf_span(&out)) == ERR_OK)
			record_end(&record);
		close(request.ipcFd);
		request.ipcFd = -1;
		FCGX_Free(&request, 0);
	}
	return 1;
}

static bool
open_db(const char *path)
{
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824",
		NULL, NULL, NULL) != SQLITE_OK)
		return false;
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(db, texts[i], -1,
			SQLITE_PREPARE_PERSISTENT, &statements[i],
			NULL) != SQLITE_OK)
			return false;
	return true;
}

int
main(int argc, char **argv)
{
	int listener;

	if (argc != 3)
		return 2;
	if (!open_db(argv[1])) {
		fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	listener = FCGX_Init() == 0 ? FCGX_OpenSocket(argv[2], 64) : -1;
	if (listener < 0 || chmod(argv[2], 0660) != 0) {
		fprintf(stderr, "%s: cannot listen\n", argv[2]);
		return 1;
	}
	return serve(listener);
}
