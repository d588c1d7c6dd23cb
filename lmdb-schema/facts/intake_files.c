/*
 * The files of an import: its shares, written by several threads, each one file
 * at a time, and then the base file.
 *
 * Shares are taken in their order and each file has the same bytes from any
 * thread. After a failure no further share is begun; of several failures the one
 * of the lowest share counts, as if one thread had written them all.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/facts/intake_priv.h"

/* The file of a share: its own, unless all is in the base file. */
static enum err
share_path(char path[FS_PATH_MAX], const struct intake *intake,
    const char *base, unsigned share)
{
	return intake->shares == 1 ? fs_path(path, "%s", base)
				   : source_share_path(path, base, 0, share);
}

/* --- threads -------------------------------------------------------------- */

struct work {
	struct intake *intake;
	const char *base;
	uint32_t *sums;
	struct writing_progress progress;
	pthread_mutex_t lock; /* guards: */
	unsigned next; /* share */
	unsigned failed; /* share, where there is: */
	enum err err;
	struct intake_twice twice;
};

struct helper {
	struct work *work;
	struct writing writing;
	pthread_t thread;
};

static bool
take_share(struct work *work, unsigned *share)
{
	const struct intake *intake = work->intake;
	bool any;

	pthread_mutex_lock(&work->lock);
	while (
	    work->next < intake->shares && !intake->share_written[work->next])
		work->next++;
	any = work->next < intake->shares && work->err == ERR_OK;
	*share = work->next;
	work->next += any;
	pthread_mutex_unlock(&work->lock);
	return any;
}

static void
note_failure(struct work *work, const struct writing *writing, unsigned share,
    enum err err)
{
	pthread_mutex_lock(&work->lock);
	if (work->err == ERR_OK || share < work->failed) {
		work->failed = share;
		work->err = err;
		work->twice = writing->twice;
	}
	pthread_mutex_unlock(&work->lock);
}

static void
write_shares(struct work *work, struct writing *writing)
{
	char path[FS_PATH_MAX];
	unsigned share;

	while (take_share(work, &share)) {
		enum err err =
		    share_path(path, work->intake, work->base, share);

		if (err == ERR_OK)
			err = writing_share_file(writing, path, share);
		if (err != ERR_OK)
			note_failure(work, writing, share, err);
	}
}

static void *
help(void *context)
{
	struct helper *helper = context;

	write_shares(helper->work, &helper->writing);
	return NULL;
}

/* A helper that cannot be had leaves more to the others. */
static bool
begin_helper(struct helper *helper, struct work *work)
{
	helper->work = work;
	if (writing_init(&helper->writing, work->intake, work->sums,
		&work->progress) == ERR_OK &&
	    pthread_create(&helper->thread, NULL, help, helper) == 0)
		return true;
	writing_fini(&helper->writing);
	return false;
}

static void
end_helper(struct helper *helper, struct writing *writing)
{
	pthread_join(helper->thread, NULL);
	writing->articles += helper->writing.articles;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		writing->records[i] += helper->writing.records[i];
	writing_fini(&helper->writing);
}

/*
 * The thread that calls writes, too. A merge's base is read by all of them, each
 * with walks of its own.
 */
static enum err
write_all_shares(struct work *work, struct writing *writing)
{
	struct helper helpers[INTAKE_JOBS_MAX - 1];
	const struct intake *intake = work->intake;
	unsigned wanted = intake->jobs, count = 0;

	if (wanted > intake->shares)
		wanted = intake->shares;
	while (count + 1 < wanted && begin_helper(&helpers[count], work))
		count++;
	write_shares(work, writing);
	for (unsigned i = 0; i < count; i++)
		end_helper(&helpers[i], writing);
	return work->err;
}

static enum err
write_all(struct work *work, struct intake_twice *twice)
{
	struct writing writing;
	enum err err =
	    writing_init(&writing, work->intake, work->sums, &work->progress);

	if (err == ERR_OK && work->intake->shares > 1)
		err = write_all_shares(work, &writing);
	if (err == ERR_OK)
		err = writing_base_file(&writing, work->base);
	*twice = work->err != ERR_OK ? work->twice : writing.twice;
	writing_fini(&writing);
	return err;
}

/* --- files ---------------------------------------------------------------- */

void
intake_discard(struct intake *intake, const char *path)
{
	char name[FS_PATH_MAX];

	(void)fs_unlink(path);
	for (unsigned i = 0; i < intake->shares && intake->shares > 1; i++)
		if (intake->share_written != NULL && intake->share_written[i] &&
		    source_share_path(name, path, 0, i) == ERR_OK)
			(void)fs_unlink(name);
}

enum err
intake_publish(struct intake *intake, const char *from, const char *to)
{
	char made[FS_PATH_MAX], name[FS_PATH_MAX];
	enum err err = ERR_OK;

	for (unsigned i = 0;
	     i < intake->shares && intake->shares > 1 && err == ERR_OK; i++) {
		if (!intake->share_written[i])
			continue;
		err = source_share_path(made, from, 0, i);
		if (err == ERR_OK)
			err = source_share_path(name, to, 0, i);
		if (err == ERR_OK && rename(made, name) != 0) {
			err = err_from_errno(errno);
			log_error("cannot rename a share: from=%s to=%s "
				  "error=%s",
			    made, name, err_text(err));
		}
	}
	/* Syncs the folder, which is that of the shares, too. */
	return err == ERR_OK ? fs_publish(from, to) : err;
}

/* Of this import, and of what it is merged into. */
static void
find_newest_month(struct intake *intake)
{
	struct source_header *header = &intake->header;

	header->newest_month = intake->base == NULL
	    ? 0
	    : source_header(intake->base)->newest_month;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		if (intake->newest[i] > header->newest_month)
			header->newest_month = intake->newest[i];
}

/* A base of before may have older sales than any that is put: not known. */
static void
find_oldest_sales(struct intake *intake)
{
	int32_t here = intake->oldest_sales, there;

	intake->header.oldest_sales = here;
	if (intake->base == NULL ||
	    source_header(intake->base)->records[SERIES_SALES] == 0)
		return;
	there = source_header(intake->base)->oldest_sales;
	if (here == 0 || there < here)
		intake->header.oldest_sales = there;
}

enum err
intake_write(struct intake *intake, const char *path,
    struct intake_twice *twice, void (*at)(void *context, uint64_t done),
    void *context)
{
	struct work work = {.intake = intake,
	    .base = path,
	    .progress = {.at = at, .context = context}};
	enum err err = ERR_NO_MEMORY;

	assert(intake->sealed && twice != NULL);
	pthread_mutex_init(&work.lock, NULL);
	pthread_mutex_init(&work.progress.lock, NULL);
	work.sums = calloc(intake->shares, sizeof(*work.sums));
	if (work.sums != NULL)
		err = intake_load_changed(intake);
	if (err == ERR_OK) {
		find_newest_month(intake);
		find_oldest_sales(intake);
		err = write_all(&work, twice);
	}
	free(work.sums);
	pthread_mutex_destroy(&work.lock);
	pthread_mutex_destroy(&work.progress.lock);
	if (err != ERR_OK)
		intake_discard(intake, path);
	return err;
}
