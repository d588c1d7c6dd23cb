/* Files that come from other nodes, and from the bucket. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/web/pull.h"
#include "lmdb-schema/store/bucket.h"
#include "lmdb-schema/store/files_priv.h"
#include "lmdb-schema/store/files_refusal.h"

/* The file under way, open and locked. */
struct part {
	const struct files_id *id;
	char path[FS_PATH_MAX];
	int fd;
	uint64_t have;
};

static enum err
take(void *context, struct span bytes)
{
	struct part *part = context;
	enum err err = fs_write_at(part->fd, bytes.ptr, bytes.len, part->have);

	part->have += bytes.len;
	return err;
}

static enum err
begin_anew(struct part *part)
{
	part->have = 0;
	return ftruncate(part->fd, 0) == 0 ? ERR_OK : err_from_errno(errno);
}

static enum err
open_part(struct part *part, const char *dir)
{
	struct stat st;
	enum err err = files_make_folder(dir);

	if (err == ERR_OK)
		err = files_path(part->path, dir, part->id->name, ".part");
	if (err == ERR_OK)
		err = fs_lock(&part->fd, part->path, true);
	if (err != ERR_OK)
		return err;
	if (fstat(part->fd, &st) != 0 || fchmod(part->fd, FILES_MODE) != 0)
		return err_from_errno(errno);
	part->have = (uint64_t)st.st_size;
	return part->have > part->id->bytes ? begin_anew(part) : ERR_OK;
}

/* Whether the part that has come is the file. */
static enum err
verify(struct part *part)
{
	struct files_id found;
	enum err err;

	if (part->have != part->id->bytes)
		return ERR_CLOSED;
	if (lseek(part->fd, 0, SEEK_SET) != 0)
		return err_from_errno(errno);
	err = files_sum_of(&found, part->fd);
	if (err == ERR_OK && strcmp(found.name, part->id->name) != 0)
		err = ERR_DAMAGED;
	return err;
}

static enum err
publish(struct part *part, const char *dir)
{
	char path[FS_PATH_MAX];
	enum err err = files_path(path, dir, part->id->name, "");

	if (err == ERR_OK && fsync(part->fd) != 0)
		err = err_from_errno(errno);
	return err == ERR_OK ? fs_publish(part->path, path) : err;
}

static enum err
pull_from(struct part *part, const struct files_from *from, const char *holder,
    char why[ASK_ERROR_MAX])
{
	char url[FS_PATH_MAX];
	struct pull_request request = {.url = url,
	    .token = from->token,
	    .trust = &from->trust,
	    .stall_s = from->stall_s,
	    .each = take,
	    .context = part};
	enum err err =
	    fs_path(url, "%s/cluster/files/%s", holder, part->id->name);

	why[0] = '\0';
	if (err == ERR_OK && part->have == part->id->bytes)
		return ERR_OK;
	request.from = part->have;
	request.most = part->id->bytes - part->have;
	if (err == ERR_OK)
		err = pull(&request, why);
	if (err == ERR_EXISTS) {
		/* The holder knows no Range. */
		request.from = 0;
		request.most = part->id->bytes;
		err = begin_anew(part);
		if (err == ERR_OK)
			err = pull(&request, why);
	}
	return err;
}

static enum err
begin_piece_anew(struct part *part, const struct bucket *bucket)
{
	part->have -= part->have % bucket->piece;
	return ftruncate(part->fd, (off_t)part->have) == 0
	    ? ERR_OK
	    : err_from_errno(errno);
}

/* A request for each piece, one after the other. */
static enum err
pull_pieces(
    struct part *part, const struct bucket *bucket, char why[ASK_ERROR_MAX])
{
	enum err err = ERR_OK;

	why[0] = '\0';
	while (err == ERR_OK && part->have < part->id->bytes) {
		uint64_t before = part->have;

		err =
		    bucket_pull(bucket, part->id, part->have, take, part, why);
		if (err == ERR_EXISTS) {
			/* The store knows no Range. */
			err = begin_piece_anew(part, bucket);
			if (err == ERR_OK)
				err = bucket_pull(bucket, part->id, part->have,
				    take, part, why);
		} else if (err == ERR_OK && part->have == before)
			err = ERR_CLOSED; /* an object without its bytes */
	}
	return err;
}

/* Of this machine: no other holder makes it better. */
static bool
is_own(enum err err)
{
	return err == ERR_NO_MEMORY || err == ERR_NO_SPACE ||
	    err == ERR_READ_ONLY || err == ERR_SYSTEM || err == ERR_NOT_READY;
}

/* The nodes in their order, and the bucket behind them. */
static const char *
holder_at(const struct files_from *from, unsigned i)
{
	return i < from->count ? from->holders[i] : from->bucket->url;
}

/* By a node; a bucket's secret is another one, and the store's answer tells. */
static const struct files_refusal *
denial_of(const struct files_from *from, unsigned i, const char *why)
{
	const struct files_refusal *refusal = files_refusal_of(why);

	return i < from->count && refusal != NULL && refusal->lasts ? refusal
								    : NULL;
}

static void
log_away(const struct part *part, const char *holder, const char *why)
{
	log_error("a file does not come: holder=%s file=%s bytes=%llu of=%llu "
		  "error=%s",
	    holder, part->id->name, (unsigned long long)part->have,
	    (unsigned long long)part->id->bytes, why);
}

/* The next try comes within seconds, or for the next file at once. */
static void
log_once(const struct part *part, const char *holder, enum err err,
    const char *answer, const char *why)
{
	if (files_refusal_is_new(holder, err, answer))
		log_away(part, holder, why);
}

/*
 * ERR_DAMAGED when bytes of another file came: the part is thrown away. The
 * beginning may be another holder's, so this one may be asked once more. `why` is
 * the reason of what fails.
 */
static enum err
try_holder(struct part *part, const struct files_from *from, unsigned i,
    char why[ASK_ERROR_MAX])
{
	const char *holder = holder_at(from, i);
	uint64_t before = part->have;
	enum err err = i < from->count ? pull_from(part, from, holder, why)
				       : pull_pieces(part, from->bucket, why);

	if (err == ERR_OK)
		err = verify(part);
	if (err == ERR_OK)
		return ERR_OK;
	if (why[0] == '\0')
		snprintf(why, ASK_ERROR_MAX, "%s", err_text(err));
	if (is_own(err))
		return err;
	if (err != ERR_DAMAGED && err != ERR_TOO_LARGE) {
		if (denial_of(from, i, why) == NULL && err != ERR_NOT_FOUND)
			log_once(part, holder, err, why, why);
		return err;
	}
	log_away(part, holder, why);
	err = begin_anew(part);
	if (err != ERR_OK)
		return err;
	return before == 0 ? ERR_DAMAGED : ERR_BEHIND;
}

/* The list may grow before the bucket, between two files. */
static unsigned
away_index(const struct files_from *from, unsigned i)
{
	return i < from->count ? i : FILES_HOLDERS_MAX;
}

/* Of them those that were away for the file before come last. */
static unsigned
order_holders(
    unsigned order[FILES_HOLDERS_MAX + 1], const struct files_from *from)
{
	const unsigned count = from->count + (from->bucket != NULL ? 1 : 0);
	unsigned n = 0;

	for (unsigned away = 0; away < 2; away++)
		for (unsigned i = 0; i < count; i++)
			if (from->away[away_index(from, i)] == (away == 1))
				order[n++] = i;
	return count;
}

#define DENIED_MAX 512

/* The last denial: it lasts until it is mended. */
struct denied {
	const char *holder; /* NULL: there was none */
	char answer[ASK_ERROR_MAX];
	char why[DENIED_MAX];
};

static void
note_denial(struct denied *denied, const struct files_from *from, unsigned i,
    const char *why)
{
	const struct files_refusal *denial = denial_of(from, i, why);

	if (denial == NULL)
		return;
	denied->holder = holder_at(from, i);
	snprintf(denied->answer, sizeof(denied->answer), "%s", why);
	snprintf(denied->why, sizeof(denied->why), "%s: %s %s: %s", why,
	    denial->text, denied->holder, denial->todo);
}

/* Of a file, what holders have answered so far. */
struct asking {
	struct part *part;
	struct files_from *from;
	struct fault *fault;
	struct denied denied;
	const char *lacking; /* the last one that has not the file */
	char lacks[ASK_ERROR_MAX]; /* its answer */
};

/* The last failure's reason, but that a denial stays. */
static void
set_reason(const struct asking *asking, const char *holder, const char *why)
{
	fault_clear(asking->fault);
	if (asking->denied.holder != NULL)
		fault_set(asking->fault, asking->denied.holder, "%s",
		    asking->denied.why);
	else
		fault_set(asking->fault, holder,
		    "has not given the file %s: %s", asking->part->id->name,
		    why);
}

/* Where another one gives the file, nobody else tells of a denial. */
static void
note_given(const struct asking *asking, const char *holder)
{
	const struct denied *denied = &asking->denied;

	if (denied->holder != NULL)
		log_once(asking->part, denied->holder, ERR_DENIED,
		    denied->answer, denied->why);
	if (files_refusal_ends(holder))
		log_info("a node gives its files again: holder=%s", holder);
}

static enum err
ask_holder(struct asking *asking, unsigned i)
{
	struct files_from *from = asking->from;
	const char *holder = holder_at(from, i);
	char why[ASK_ERROR_MAX];
	enum err err = try_holder(asking->part, from, i, why);

	from->away[away_index(from, i)] =
	    err == ERR_AWAY || err == ERR_TIMED_OUT;
	if (is_own(err))
		fault_set(asking->fault, asking->part->path,
		    "a file of another node cannot be written here: %s", why);
	if (err == ERR_OK)
		note_given(asking, holder);
	if (err == ERR_OK || is_own(err))
		return err;
	note_denial(&asking->denied, from, i, why);
	if (err == ERR_NOT_FOUND) {
		asking->lacking = holder;
		memcpy(asking->lacks, why, sizeof(why));
	}
	set_reason(asking, holder, err == ERR_AWAY ? why : err_text(err));
	return err;
}

#define ROUNDS 16

/*
 * Each holder that has brought it forward may be asked again. One that has not the
 * file is no fault while another one may give it.
 */
static enum err
ask_in_turn(struct part *part, struct files_from *from, struct fault *fault)
{
	struct asking asking = {.part = part, .from = from, .fault = fault};
	unsigned order[FILES_HOLDERS_MAX + 1];
	const unsigned count = order_holders(order, from);
	bool left[FILES_HOLDERS_MAX + 1] = {false};
	bool more = true;

	for (unsigned round = 0; round < ROUNDS && more; round++) {
		more = false;
		for (unsigned n = 0; n < count; n++) {
			unsigned i = order[n];
			uint64_t before = part->have;
			enum err err;

			if (left[i])
				continue;
			err = ask_holder(&asking, i);
			if (err == ERR_OK || is_own(err))
				return err;
			left[i] = err != ERR_BEHIND && part->have <= before;
			more = more || !left[i];
		}
	}
	if (asking.lacking != NULL)
		log_once(part, asking.lacking, ERR_NOT_FOUND, asking.lacks,
		    asking.lacks);
	return ERR_AWAY;
}

enum err
files_fetch(const char *dir, const struct files_id *id, struct files_from *from,
    struct fault *fault)
{
	struct part part = {.id = id, .fd = -1};
	enum err err;

	assert(files_is_name(span_of(id->name)));
	assert(from->count <= FILES_HOLDERS_MAX);
	if (files_have(dir, id))
		return ERR_OK;
	if (from->count == 0 && from->bucket == NULL)
		fault_set(fault, id->name,
		    "no other node is there to get the file from");
	err = open_part(&part, dir);
	/* Another process may have got it while this one waited. */
	if (err == ERR_OK && files_have(dir, id))
		err = fs_unlink(part.path);
	else if (err == ERR_OK)
		err = ask_in_turn(&part, from, fault);
	if (err == ERR_OK && !files_have(dir, id))
		err = publish(&part, dir);
	if (part.fd >= 0)
		close(part.fd);
	return err;
}
