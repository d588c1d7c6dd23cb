#include "lmdb-schema/upkeep/lacks.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/num.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/keeping.h"

#define PREFIX "lacks/"
#define IMPORT "/import"
#define BUCKET "/bucket" /* as long: a name has room for either */
#define PLACE_MAX 100
#define SECOND_NS INT64_C(1000000000)

enum err
lacks_look(struct lacks *out, struct store *store)
{
	struct cluster_sharing sharing;
	struct editions editions;
	enum err err = cluster_sharing(&sharing, store_dir(store), NULL);

	*out = (struct lacks){0};
	if (err != ERR_OK || !sharing.files)
		return err;
	err = edition_look(&editions, store);
	if (err == ERR_OK && !editions.is_current)
		out->import = editions.now.number;
	else if (err == ERR_OK)
		err = computed_lacking(&out->snapshots, store);
	return err;
}

/* --- telling -------------------------------------------------------------- */

/* Whether it has been so for long; `since_ns` is 0 where it is not so. */
static bool
lasts(int64_t *since_ns, bool is, int64_t long_s, int64_t now_ns)
{
	if (!is)
		*since_ns = 0;
	else if (*since_ns == 0)
		*since_ns = now_ns;
	return is && now_ns - *since_ns >= long_s * SECOND_NS;
}

/* Clears what has not lasted. */
static void
judge(struct lacks_telling *telling, struct lacks *lacks, uint64_t whole,
    int64_t now_ns)
{
	if (whole != telling->whole)
		telling->snapshots_ns = 0;
	telling->whole = whole;
	if (!lasts(&telling->import_ns, lacks->import != 0, LACKS_S, now_ns))
		lacks->import = 0;
	if (!lasts(
		&telling->snapshots_ns, lacks->snapshots != 0, LACKS_S, now_ns))
		lacks->snapshots = 0;
}

/* A log that is out of reach stands for all, and a twin is told as such. */
static void
judge_log(struct lacks_telling *telling, struct lacks *lacks, uint64_t place,
    enum err followed, int64_t now_ns)
{
	bool stands = followed != ERR_OK && followed != ERR_AWAY &&
	    followed != ERR_EXISTS;

	if (place != telling->place)
		telling->stands_ns = 0;
	telling->place = place;
	if (lasts(&telling->stands_ns, stands, LACKS_STANDS_S, now_ns))
		snprintf(lacks->stands, sizeof(lacks->stands), "%s",
		    err_text(followed));
}

static enum err
put(struct lacks_note *note, struct engine *engine, const char *node,
    const char *part, const char *text)
{
	char name[sizeof(PREFIX IMPORT) + ENGINE_NODE_NAME_MAX];
	enum err err;

	if (note->known && strcmp(text, note->told) == 0)
		return ERR_OK;
	snprintf(name, sizeof(name), PREFIX "%s%s", node, part);
	err = text[0] == '\0'
	    ? engine->note_drop(engine, span_of(name))
	    : engine->note_put(engine, span_of(name), span_of(text));
	note->known = err == ERR_OK;
	snprintf(note->told, sizeof(note->told), "%s", text);
	return err;
}

enum err
lacks_tell(struct lacks_telling *telling, struct store *store,
    struct engine *engine, const struct engine_node *own, uint64_t whole,
    enum err followed, int64_t now_ns)
{
	char text[sizeof(telling->note.told)] = "";
	struct lacks lacks;
	enum err err = lacks_look(&lacks, store);

	assert(own->name[0] != '\0');
	if (err != ERR_OK)
		return err;
	judge(telling, &lacks, whole, now_ns);
	judge_log(telling, &lacks, own->places[STORE_STATE], followed, now_ns);
	if (lacks.import != 0 || lacks.snapshots != 0 ||
	    lacks.stands[0] != '\0')
		snprintf(text, sizeof(text), "%s %llu %llu%s%s", own->run,
		    (unsigned long long)lacks.import,
		    (unsigned long long)lacks.snapshots,
		    lacks.stands[0] == '\0' ? "" : " ", lacks.stands);
	return put(&telling->note, engine, own->name, "", text);
}

static enum err
put_why(struct lacks_note *note, struct engine *engine,
    const struct engine_node *own, const char *part, const struct fault *why)
{
	char text[sizeof(note->told)] = "";

	assert(own->name[0] != '\0');
	if (fault_is_set(why))
		snprintf(text, sizeof(text), "%s %.*s: %.*s", own->run,
		    PLACE_MAX, why->place, LACKS_WHY_MAX, why->message);
	return put(note, engine, own->name, part, text);
}

enum err
lacks_tell_import(struct lacks_note *note, struct engine *engine,
    const struct engine_node *own, const struct fault *why)
{
	return put_why(note, engine, own, IMPORT, why);
}

enum err
lacks_tell_bucket(struct lacks_note *note, struct engine *engine,
    const struct engine_node *own, const struct fault *why)
{
	return put_why(note, engine, own, BUCKET, why);
}

/* --- what is told --------------------------------------------------------- */

/* "node run import snapshots", and a reason or none; "node/import run reason" */
static enum err
add_line(void *context, struct span name, struct span text)
{
	struct buf *lines = context;

	if (span_starts(name, SPAN(PREFIX)))
		buf_addf(lines, "%.*s %.*s\n",
		    SPAN_ARG(span_from(name, sizeof(PREFIX) - 1)),
		    SPAN_ARG(text));
	return buf_end(lines);
}

enum err
lacks_read(struct buf *lines, struct engine *engine)
{
	return engine->notes(engine, PREFIX, add_line, lines);
}

/* A text that is not one of ours says nothing. */
static uint64_t
take_number(struct span *rest)
{
	struct span word;
	int64_t number;

	return span_cut(&word, rest, ' ') &&
		num_int(&number, word, 0, INT64_MAX)
	    ? (uint64_t)number
	    : 0;
}

/* Behind the name, and the run of the node's record; false: there is none. */
static bool
find_line(struct span *line, const struct buf *lines,
    const struct engine_node *node, const char *part)
{
	char name[ENGINE_NODE_NAME_MAX + sizeof(IMPORT)];
	struct span word, rest = buf_span(lines);

	snprintf(name, sizeof(name), "%s%s", node->name, part);
	while (span_cut(line, &rest, '\n'))
		if (span_cut(&word, line, ' ') &&
		    span_eq(word, span_of(name)) &&
		    span_cut(&word, line, ' ') &&
		    span_eq(word, span_of(node->run)))
			return true;
	return false;
}

void
lacks_find(
    struct lacks *out, const struct buf *lines, const struct engine_node *node)
{
	struct span line;

	*out = (struct lacks){0};
	if (find_line(&line, lines, node, "")) {
		out->import = take_number(&line);
		out->snapshots = take_number(&line);
		snprintf(
		    out->stands, sizeof(out->stands), "%.*s", SPAN_ARG(line));
	}
	if (find_line(&line, lines, node, IMPORT))
		snprintf(out->import_why, sizeof(out->import_why), "%.*s",
		    SPAN_ARG(line));
	if (find_line(&line, lines, node, BUCKET))
		snprintf(out->bucket_why, sizeof(out->bucket_why), "%.*s",
		    SPAN_ARG(line));
}
