#include "lmdb-schema/store/pg.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/library.h"
#include "lmdb-schema/store/pg_refusal.h"

#define NAME_MAX_BYTES 300
#define VALUES_MAX 12
#define NS_A_MS INT64_C(1000000)

/* pg_type.dat's numbers are part of the protocol. */
#define OID_BYTEA 17
#define OID_BIGINT 20

/* --- the library ---------------------------------------------------------- */

#define OF(name) __typeof__(&PQ##name) name

static struct {
	OF(conninfoFree);
	OF(conninfoParse);
	OF(clear);
	OF(connectPoll);
	OF(connectStartParams);
	OF(consumeInput);
	OF(errorMessage);
	OF(finish);
	OF(flush);
	OF(freemem);
	OF(getResult);
	OF(getisnull);
	OF(getlength);
	OF(getvalue);
	OF(isBusy);
	OF(ntuples);
	OF(resultErrorField);
	OF(resultStatus);
	OF(sendQueryParams);
	OF(setErrorVerbosity);
	OF(setNoticeReceiver);
	OF(setnonblocking);
	OF(socket);
	OF(status);
} lib;

#define NAMED(name) \
	{ \
		"PQ" #name, &lib.name \
	}

static const struct library_function functions[] = {
    NAMED(conninfoFree),
    NAMED(conninfoParse),
    NAMED(clear),
    NAMED(connectPoll),
    NAMED(connectStartParams),
    NAMED(consumeInput),
    NAMED(errorMessage),
    NAMED(finish),
    NAMED(flush),
    NAMED(freemem),
    NAMED(getResult),
    NAMED(getisnull),
    NAMED(getlength),
    NAMED(getvalue),
    NAMED(isBusy),
    NAMED(ntuples),
    NAMED(resultErrorField),
    NAMED(resultStatus),
    NAMED(sendQueryParams),
    NAMED(setErrorVerbosity),
    NAMED(setNoticeReceiver),
    NAMED(setnonblocking),
    NAMED(socket),
    NAMED(status),
    {NULL, NULL},
};

static enum err
load(struct fault *fault)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *const names[] = {"libpq.so.5", NULL};
	static const struct library library = {names, "libpq5", functions};
	enum err err = ERR_OK;

	pthread_mutex_lock(&lock);
	if (lib.status == NULL)
		err = library_load(&library, fault);
	pthread_mutex_unlock(&lock);
	return err;
}

/* The first line: libpq's texts end with a line's end. */
static void
tell(struct fault *fault, const char *place, const char *text)
{
	struct span line = span_of(text == NULL ? "" : text);

	line = span_sub(line, 0, span_find(line, '\n'));
	fault_set(fault, place, "%.*s", SPAN_ARG(line));
}

/* --- places --------------------------------------------------------------- */

struct pg_places {
	PQconninfoOption *options;
	char *password;
	unsigned count;
	char names[PG_PLACES_MAX][NAME_MAX_BYTES];
	/* Of each place: empty where the string has none. */
	char hosts[PG_PLACES_MAX][NAME_MAX_BYTES];
	char addresses[PG_PLACES_MAX][NAME_MAX_BYTES];
	char ports[PG_PLACES_MAX][NAME_MAX_BYTES];
};

static const char *
option(const struct pg_places *places, const char *name)
{
	for (const PQconninfoOption *at = places->options; at->keyword != NULL;
	     at++)
		if (strcmp(at->keyword, name) == 0)
			return at->val;
	return NULL;
}

/* How many the list has; 0: it is not there. */
static enum err
cut_list(char to[PG_PLACES_MAX][NAME_MAX_BYTES], unsigned *count,
    const struct pg_places *places, const char *name, struct fault *fault)
{
	const char *text = option(places, name);
	struct span piece, rest = span_of(text == NULL ? "" : text);

	*count = 0;
	if (rest.len == 0)
		return ERR_OK;
	while (span_cut(&piece, &rest, ',')) {
		if (*count == PG_PLACES_MAX ||
		    !span_copy(to[*count], NAME_MAX_BYTES, piece)) {
			fault_set(fault, "postgres",
			    "names more than %d servers, or one of too long a "
			    "name",
			    PG_PLACES_MAX);
			return ERR_BAD_INPUT;
		}
		++*count;
	}
	return ERR_OK;
}

static void
name_places(struct pg_places *places)
{
	for (unsigned i = 0; i < places->count; i++) {
		const char *host = places->hosts[i][0] != '\0'
		    ? places->hosts[i]
		    : places->addresses[i];
		const char *port = places->ports[i];

		snprintf(places->names[i], NAME_MAX_BYTES, "%.250s%s%.40s",
		    host, port[0] == '\0' ? "" : ":", port);
	}
}

static enum err
cut_places(struct pg_places *places, struct fault *fault)
{
	unsigned hosts, addresses, ports;
	enum err err = cut_list(places->hosts, &hosts, places, "host", fault);

	if (err == ERR_OK)
		err = cut_list(
		    places->addresses, &addresses, places, "hostaddr", fault);
	if (err == ERR_OK)
		err = cut_list(places->ports, &ports, places, "port", fault);
	if (err != ERR_OK)
		return err;
	places->count = hosts > addresses ? hosts : addresses;
	if (places->count == 0)
		places->count = 1;
	if ((hosts > 0 && addresses > 0 && hosts != addresses) ||
	    (ports > 1 && ports != places->count)) {
		fault_set(fault, "postgres",
		    "has another number of hosts, addresses or ports");
		return ERR_BAD_INPUT;
	}
	for (unsigned i = 1; ports == 1 && i < places->count; i++)
		memcpy(places->ports[i], places->ports[0], NAME_MAX_BYTES);
	name_places(places);
	return ERR_OK;
}

static enum err
parse(struct pg_places *places, const char *text, const char *password,
    struct fault *fault)
{
	char *why = NULL;

	places->password = strdup(password);
	if (places->password == NULL)
		return ERR_NO_MEMORY;
	places->options = lib.conninfoParse(text, &why);
	if (places->options == NULL) {
		tell(fault, "postgres", why == NULL ? "memory" : why);
		lib.freemem(why);
		return why == NULL ? ERR_NO_MEMORY : ERR_BAD_INPUT;
	}
	return cut_places(places, fault);
}

enum err
pg_places_new(struct pg_places **out, const char *text, const char *password,
    struct fault *fault)
{
	struct pg_places *places;
	enum err err = load(fault);

	*out = NULL;
	if (err != ERR_OK)
		return err;
	places = calloc(1, sizeof(*places));
	if (places == NULL)
		return ERR_NO_MEMORY;
	err = parse(places, text, password, fault);
	if (err != ERR_OK) {
		pg_places_free(places);
		return err;
	}
	*out = places;
	return ERR_OK;
}

void
pg_places_free(struct pg_places *places)
{
	if (places == NULL)
		return;
	if (places->options != NULL)
		lib.conninfoFree(places->options);
	free(places->password);
	free(places);
}

unsigned
pg_places_count(const struct pg_places *places)
{
	return places->count;
}

const char *
pg_place_name(const struct pg_places *places, unsigned place)
{
	return places->names[place];
}

/* --- waiting -------------------------------------------------------------- */

struct pg {
	PGconn *conn;
	PGresult *result;
	bool cancelled; /* a commit is no longer waited for */
};

/* False when the time is over. */
static bool
wait_for(const struct pg *pg, short events, int64_t end_ns)
{
	struct pollfd fd = {.fd = lib.socket(pg->conn), .events = events};
	int64_t left;
	int ready;

	do {
		left = end_ns - date_monotonic_ns();
		if (left <= 0 || fd.fd < 0)
			return false;
		ready = poll(&fd, 1, (int)((left + NS_A_MS - 1) / NS_A_MS));
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/*
 * A commit is there for all to see, and is not on a standby, after such a
 * warning of the server; a notice says that a table is there already.
 */
static void
take_notice(void *context, const PGresult *result)
{
	struct pg *pg = context;
	const char *severity =
	    lib.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

	if (severity == NULL || strcmp(severity, "WARNING") == 0)
		pg->cancelled = true;
}

/* --- connecting ----------------------------------------------------------- */

#define KEYWORDS_MAX 64

struct words {
	const char *keys[KEYWORDS_MAX + 1], *values[KEYWORDS_MAX + 1];
	unsigned count;
};

static void
add_word(struct words *words, const char *key, const char *value)
{
	assert(words->count < KEYWORDS_MAX);
	if (value == NULL || value[0] == '\0')
		return;
	words->keys[words->count] = key;
	words->values[words->count++] = value;
}

/* The later of two equal words counts. */
static void
choose_words(
    struct words *words, const struct pg_places *places, unsigned place)
{
	static const char *const own[] = {"host", "hostaddr", "port", NULL};

	memset(words, 0, sizeof(*words));
	add_word(words, "application_name", "product-grid");
	add_word(words, "target_session_attrs", "read-write");
	for (const PQconninfoOption *at = places->options; at->keyword != NULL;
	     at++) {
		unsigned i = 0;

		while (own[i] != NULL && strcmp(own[i], at->keyword) != 0)
			i++;
		if (own[i] == NULL)
			add_word(words, at->keyword, at->val);
	}
	add_word(words, "host", places->hosts[place]);
	add_word(words, "hostaddr", places->addresses[place]);
	add_word(words, "port", places->ports[place]);
	add_word(words, "password", places->password);
}

static enum err
finish_connecting(struct pg *pg, int64_t end_ns, struct fault *fault)
{
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;

	while (next != PGRES_POLLING_OK) {
		if (next == PGRES_POLLING_FAILED ||
		    lib.status(pg->conn) == CONNECTION_BAD)
			return pg_refused_connection(
			    fault, lib.errorMessage(pg->conn));
		if (!wait_for(pg,
			next == PGRES_POLLING_READING ? POLLIN : POLLOUT,
			end_ns)) {
			tell(fault, "connect", "no answer in time");
			return ERR_AWAY;
		}
		next = lib.connectPoll(pg->conn);
	}
	return lib.setnonblocking(pg->conn, 1) == 0 ? ERR_OK : ERR_AWAY;
}

enum err
pg_open(struct pg **out, const struct pg_places *places, unsigned place,
    int64_t end_ns, unsigned limit_ms, struct fault *fault)
{
	static const char set_limits[] =
	    "SELECT set_config('lock_timeout', $1::text, false), "
	    "set_config('statement_timeout', ($1 * 8)::text, false), "
	    "set_config('synchronous_commit', CASE "
	    "current_setting('synchronous_commit') WHEN 'remote_apply' "
	    "THEN 'remote_apply' ELSE 'on' END, false)";
	struct pg *pg = calloc(1, sizeof(*pg));
	struct words words;
	const struct pg_value limit = {.is_number = true, .number = limit_ms};
	enum err err;

	*out = NULL;
	assert(place < places->count);
	if (pg == NULL)
		return ERR_NO_MEMORY;
	choose_words(&words, places, place);
	pg->conn = lib.connectStartParams(words.keys, words.values, 0);
	if (pg->conn == NULL) {
		free(pg);
		return ERR_NO_MEMORY;
	}
	lib.setNoticeReceiver(pg->conn, take_notice, pg);
	(void)lib.setErrorVerbosity(pg->conn, PQERRORS_VERBOSE);
	err = finish_connecting(pg, end_ns, fault);
	if (err == ERR_OK)
		err = pg_ask(pg, set_limits, &limit, 1, end_ns, fault);
	if (err != ERR_OK) {
		pg_close(pg);
		return err == ERR_DENIED ? err : ERR_AWAY;
	}
	*out = pg;
	return ERR_OK;
}

void
pg_close(struct pg *pg)
{
	if (pg == NULL)
		return;
	lib.clear(pg->result);
	lib.finish(pg->conn);
	free(pg);
}

/* --- statements ----------------------------------------------------------- */

/* Of libpq's arrays of parameters. */
struct sent {
	Oid types[VALUES_MAX];
	uint64_t numbers[VALUES_MAX];
	const char *values[VALUES_MAX];
	int lengths[VALUES_MAX], formats[VALUES_MAX];
};

static void
lay_out(struct sent *sent, const struct pg_value *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool is_number = values[i].is_number;

		sent->types[i] = is_number ? OID_BIGINT : OID_BYTEA;
		sent->numbers[i] = htobe64(values[i].number);
		sent->values[i] = is_number ? (const char *)&sent->numbers[i]
					    : values[i].bytes.ptr;
		sent->lengths[i] = is_number ? (int)sizeof(sent->numbers[i])
					     : (int)values[i].bytes.len;
		sent->formats[i] = 1;
	}
}

/* False once the server has ended a connection that nobody has used since. */
static bool
is_open(const struct pg *pg)
{
	struct pollfd fd = {.fd = lib.socket(pg->conn), .events = POLLIN};

	/* A last message may come before the end. */
	while (fd.fd >= 0 && poll(&fd, 1, 0) > 0)
		if (lib.consumeInput(pg->conn) == 0)
			return false;
	return lib.status(pg->conn) == CONNECTION_OK;
}

/* False when the connection or the time has ended. */
static bool
flush_and_await(struct pg *pg, int64_t end_ns)
{
	int left;

	while ((left = lib.flush(pg->conn)) == 1)
		if (!wait_for(pg, POLLIN | POLLOUT, end_ns) ||
		    lib.consumeInput(pg->conn) == 0)
			return false;
	while (left == 0 && lib.isBusy(pg->conn) != 0)
		if (!wait_for(pg, POLLIN, end_ns) ||
		    lib.consumeInput(pg->conn) == 0)
			return false;
	return left == 0;
}

static bool
is_state(const char *state, const char *wanted)
{
	return strncmp(state, wanted, strlen(wanted)) == 0;
}

/* An error ends the statement; what is worse may come behind its commit. */
static enum err
failed(const PGresult *result, struct fault *fault)
{
	const char *severity =
	    lib.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *state = lib.resultErrorField(result, PG_DIAG_SQLSTATE);
	const char *text =
	    lib.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	if (severity == NULL || state == NULL ||
	    strcmp(severity, "ERROR") != 0 || is_state(state, "08") ||
	    is_state(state, "57P")) {
		tell(fault, "PostgreSQL", text);
		return ERR_UNKNOWN;
	}
	tell(fault, state, text);
	if (is_state(state, "42P01"))
		return ERR_NOT_FOUND;
	if (is_state(state, "42501"))
		return ERR_DENIED;
	/* The server was a primary, and is a standby now. */
	return is_state(state, "25006") ? ERR_CLOSED : ERR_AWAY;
}

/* Takes the answer; all results of it are read. */
static enum err
take_results(struct pg *pg, int64_t end_ns, struct fault *fault)
{
	enum err err = ERR_UNKNOWN;
	PGresult *result;

	while (flush_and_await(pg, end_ns)) {
		result = lib.getResult(pg->conn);
		if (result == NULL) {
			if (err == ERR_UNKNOWN)
				tell(fault, "PostgreSQL", "no answer");
			return err;
		}
		lib.clear(pg->result);
		pg->result = result;
		err = lib.resultStatus(result) == PGRES_TUPLES_OK ||
			lib.resultStatus(result) == PGRES_COMMAND_OK
		    ? ERR_OK
		    : failed(result, fault);
	}
	tell(fault, "PostgreSQL",
	    lib.status(pg->conn) == CONNECTION_OK ? "no answer in time"
						  : lib.errorMessage(pg->conn));
	return ERR_UNKNOWN;
}

enum err
pg_ask(struct pg *pg, const char *sql, const struct pg_value *values,
    unsigned count, int64_t end_ns, struct fault *fault)
{
	struct sent sent;
	enum err err;

	assert(count <= VALUES_MAX);
	lib.clear(pg->result);
	pg->result = NULL;
	pg->cancelled = false;
	if (!is_open(pg)) {
		tell(fault, "PostgreSQL", lib.errorMessage(pg->conn));
		return ERR_CLOSED;
	}
	lay_out(&sent, values, count);
	if (lib.sendQueryParams(pg->conn, sql, (int)count, sent.types,
		sent.values, sent.lengths, sent.formats, 1) == 0) {
		tell(fault, "PostgreSQL", lib.errorMessage(pg->conn));
		return ERR_UNKNOWN;
	}
	err = take_results(pg, end_ns, fault);
	if (err == ERR_OK && pg->cancelled) {
		tell(fault, "PostgreSQL", "a commit is not on the standby");
		err = ERR_UNKNOWN;
	}
	return err;
}

const struct pg_result *
pg_answer(const struct pg *pg)
{
	return pg->result;
}

struct pg_result *
pg_take(struct pg *pg)
{
	PGresult *result = pg->result;

	pg->result = NULL;
	return result;
}

void
pg_free(struct pg_result *result)
{
	if (result != NULL)
		lib.clear(result);
}

unsigned
pg_rows(const struct pg_result *result)
{
	return result == NULL ? 0 : (unsigned)lib.ntuples(result);
}

bool
pg_is_null(const struct pg_result *result, unsigned row, unsigned column)
{
	return lib.getisnull(result, (int)row, (int)column) != 0;
}

struct span
pg_bytes(const struct pg_result *result, unsigned row, unsigned column)
{
	return span_make(lib.getvalue(result, (int)row, (int)column),
	    (size_t)lib.getlength(result, (int)row, (int)column));
}

uint64_t
pg_number(const struct pg_result *result, unsigned row, unsigned column)
{
	struct span value = pg_bytes(result, row, column);
	uint64_t number = 0;

	if (value.len == sizeof(number))
		memcpy(&number, value.ptr, sizeof(number));
	return be64toh(number);
}
