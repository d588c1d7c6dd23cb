#include "lmdb-schema/store/pg_refusal.h"

#include <stdio.h>
#include <string.h>

#include "common/count.h"
#include "common/span.h"

#define STATE_LEN 5
#define NO_PASSWORD "28P01"

/* A place of faults begins with `state`; the first row that fits counts. */
static const struct refusal {
	const char *state, *text, *todo;
} refusals[] = {
    {"28", "refuses the user",
	"user of the connection string and the password in the file of "
	"password_file (cluster.conf) are those that the server has (ALTER "
	"ROLE ... PASSWORD), and its pg_hba.conf admits this host; "
	"then " ENGINE_PASSWORD_TODO},
    {"3D", "has no such database",
	"CREATE DATABASE there, with the user as its OWNER; or name another "
	"dbname in the connection string of cluster.conf"},
    {"42501", "does not let the user do this",
	"as the database's owner: GRANT USAGE, CREATE ON SCHEMA public TO the "
	"user of the connection string; or make the tables, and grant what "
	"docs/cluster.md says of them"},
    {PG_TLS, "cannot be reached by TLS",
	"sslmode, sslrootcert, sslcert, sslkey and the host of the connection "
	"string (cluster.conf) are to fit the server's certificate"},
};

static const struct refusal *
find(const char *state)
{
	for (size_t i = 0; i < COUNT(refusals); i++)
		if (strncmp(state, refusals[i].state,
			strlen(refusals[i].state)) == 0)
			return &refusals[i];
	return NULL;
}

static bool
has(struct span text, struct span part)
{
	return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

/* Moves *text behind the first `mark`, if it is there. */
static bool
cut_before(struct span *text, struct span mark)
{
	const char *at = memmem(text->ptr, text->len, mark.ptr, mark.len);

	if (at == NULL)
		return false;
	*text = span_from(*text, (size_t)(at - text->ptr) + mark.len);
	return true;
}

/* "FATAL:  28P01: password ...", whose first word is in the server's language. */
static bool
take_state(char state[STATE_LEN + 1], struct span *text)
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct span rest = *text;

	if (!cut_before(&rest, SPAN(":  ")) || rest.len < STATE_LEN + 2 ||
	    memcmp(rest.ptr + STATE_LEN, ": ", 2) != 0)
		return false;
	for (unsigned i = 0; i < STATE_LEN; i++)
		if (memchr(letters, rest.ptr[i], sizeof(letters) - 1) == NULL)
			return false;
	span_copy(state, STATE_LEN + 1, span_sub(rest, 0, STATE_LEN));
	*text = span_from(rest, STATE_LEN + 2);
	return true;
}

/* Of libpq's own words: a wrong certificate is no matter of the network. */
static bool
is_of_tls(struct span text)
{
	return has(text, SPAN("certificate")) ||
	    has(text, SPAN("private key")) || has(text, SPAN("alert ")) ||
	    has(text, SPAN("does not support SSL"));
}

enum err
pg_refused_connection(struct fault *fault, const char *text)
{
	struct span line = span_of(text == NULL ? "" : text);
	char state[STATE_LEN + 1] = "";
	const char *place = "connect";

	line = span_sub(line, 0, span_find(line, '\n'));
	if (span_starts(line, SPAN("connection to server ")))
		(void)cut_before(&line, SPAN(" failed: "));
	if (take_state(state, &line))
		place = state;
	else if (has(line, SPAN("no password supplied")))
		place = NO_PASSWORD;
	else if (is_of_tls(line))
		place = PG_TLS;
	fault_set(fault, place, "%.*s", SPAN_ARG(line));
	return find(place) != NULL ? ERR_DENIED : ERR_AWAY;
}

bool
pg_refusal(struct engine_trouble *out, const struct fault *fault)
{
	const struct refusal *refusal = find(fault->place);

	memset(out, 0, sizeof(*out));
	if (refusal == NULL)
		return false;
	snprintf(out->refusal, sizeof(out->refusal), "%s", refusal->text);
	snprintf(out->todo, sizeof(out->todo), "%s", refusal->todo);
	snprintf(out->why, sizeof(out->why), "%.250s", fault->message);
	return true;
}
