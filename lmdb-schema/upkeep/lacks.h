/*
 * lacks: whether a node of a cluster is short of what it is to show: the last import
 * (edition.h), or snapshots of its part (computed.h). For the time that these take to
 * come it is so on any node; one that has been short for LACKS_S tells the others, by
 * a text of the engine beside its record, until it has them. So does one that has
 * taken in no entry of the log for LACKS_STANDS_S, though the log can be read:
 *
 *	"lacks/" node -> its run, the import that it lacks or 0, how many
 *	       snapshots, by spaces; and why it takes in no entry, to the end
 *	"lacks/" node "/import" -> its run; and why the files of an import, which
 *	       may be one that is only offered, do not come, to the end: at once
 *	"lacks/" node "/bucket" -> its run; and why the last file that it put into
 *	       the bucket did not get there, to the end, until one does
 *
 * A text of another run than that of the node's record is of before, and says
 * nothing. Nodes of an earlier version tell none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "lmdb-schema/store/engine.h"

struct store;

#define LACKS_S 30
#define LACKS_STANDS_S 10
#define LACKS_REASON_MAX 128
#define LACKS_WHY_MAX 640 /* a fault, with most of its place */

struct lacks {
	uint64_t
	    import; /* the last one, where the node does not show it; or 0 */
	uint64_t
	    snapshots; /* of its part that it may get; 0 without the import */
	char stands[LACKS_REASON_MAX]; /* why; "": it takes in the log */
	char import_why[LACKS_WHY_MAX]; /* "": no import fails to come */
	char bucket_why[LACKS_WHY_MAX]; /* "": the bucket takes its files */
};

/* Of this node, now: its files, and none where its cluster.conf shares none. */
enum err lacks_look(struct lacks *out, struct store *store);

/* --- telling -------------------------------------------------------------- */

/* A text of this node, with zeros at first. */
struct lacks_note {
	bool known; /* whether `told` is what the engine has */
	char told[LACKS_WHY_MAX + 128]; /* "": no text */
};

struct lacks_telling {
	int64_t import_ns, snapshots_ns, stands_ns; /* since when; 0: none */
	uint64_t whole, place;
	struct lacks_note note;
};

/*
 * Looks, and puts or drops this node's text where it changes; the caller calls it now
 * and then, with what is zero at first. `whole` is the version at which the node
 * lacked no snapshot (keeping.h): while it grows, they come. `followed` is the outcome
 * of the last look at the log. The time is that of date_monotonic_ns().
 */
enum err lacks_tell(struct lacks_telling *telling, struct store *store,
    struct engine *engine, const struct engine_node *own, uint64_t whole,
    enum err followed, int64_t now_ns);

/* Tells why the files of an import do not come; nothing: they do, or none is to. */
enum err lacks_tell_import(struct lacks_note *note, struct engine *engine,
    const struct engine_node *own, const struct fault *why);

/* The same of files that are not put into the bucket. */
enum err lacks_tell_bucket(struct lacks_note *note, struct engine *engine,
    const struct engine_node *own, const struct fault *why);

/* --- what is told --------------------------------------------------------- */

#define LACKS_TEXT_MAX ((size_t)1 << 20)

/* Adds what nodes have told to the lines. ERR_AWAY. */
enum err lacks_read(struct buf *lines, struct engine *engine);

/* Finds the texts of this record's node; zeros: it has told none. */
void lacks_find(
    struct lacks *out, const struct buf *lines, const struct engine_node *node);
