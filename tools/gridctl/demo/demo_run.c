/*
 * The listings are cut into chunks. A thread takes the next chunk, makes its
 * text, waits until all chunks before it have their places in the files, takes
 * the places after them, and then writes in parallel with the other threads.
 */
#include "tools/gridctl/demo/demo_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/progress.h"
#include "tools/gridctl/demo/demo_shuffle.h"

#define THREADS_MAX 8
/* Shelves in a chunk: a few megabytes of text. */
#define CHUNK_SHELVES 2048

struct job {
	const struct demo_plan *plan;
	const char *dir;
	bool shuffle;
	uint32_t chunk_size; /* listings */
	uint32_t chunk_count;
	int fds[DEMO_FILES];

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t moved; /* `placed` or `err` has changed */
	uint32_t next; /* the next chunk to take */
	uint32_t placed; /* chunks that have their place */
	enum err err;
	struct demo_totals totals; /* bytes: the next chunk's place */
	struct progress progress;
};

static enum err
write_at(int fd, struct span text, uint64_t offset, const char *file)
{
	enum err err = fs_write_at(fd, text.ptr, text.len, offset);

	if (err != ERR_OK)
		log_error(
		    "cannot write: file=%s cause=%s", file, strerror(errno));
	return err;
}

/* Takes the places after the chunks before; the caller holds the lock. */
static void
take_places(
    struct job *job, const struct demo_texts *texts, uint64_t at[DEMO_FILES])
{
	for (int i = 0; i < DEMO_FILES; i++) {
		at[i] = job->totals.bytes[i];
		job->totals.bytes[i] += texts->text[i].len;
		job->totals.rows[i] += texts->rows[i];
	}
}

static enum err
write_texts(const struct job *job, const struct demo_texts *texts,
    const uint64_t at[DEMO_FILES])
{
	enum err err = ERR_OK;

	for (int i = 0; i < DEMO_FILES && err == ERR_OK; i++)
		err = write_at(job->fds[i], buf_span(&texts->text[i]), at[i],
		    demo_file_names[i]);
	return err;
}

static void
make_chunk(const struct job *job, uint32_t chunk, struct demo_texts *texts)
{
	const struct demo_plan *plan = job->plan;
	uint32_t i = chunk * job->chunk_size, end = i + job->chunk_size;

	demo_texts_clear(texts);
	for (; i < end && i < plan->listing_count; i++)
		demo_write_listing(texts, plan, &plan->listings[i]);
	if (job->shuffle)
		demo_shuffle(texts, plan->seed, chunk);
}

/* False when no chunk is left, or a thread has failed. */
static bool
take_chunk(struct job *job, uint32_t *chunk)
{
	bool taken;

	pthread_mutex_lock(&job->lock);
	*chunk = job->next;
	taken = job->err == ERR_OK && job->next < job->chunk_count;
	job->next += taken;
	pthread_mutex_unlock(&job->lock);
	return taken;
}

static void
give_up(struct job *job, enum err err)
{
	pthread_mutex_lock(&job->lock);
	if (job->err == ERR_OK)
		job->err = err;
	pthread_cond_broadcast(&job->moved);
	pthread_mutex_unlock(&job->lock);
}

static enum err
place_chunk(struct job *job, uint32_t chunk, const struct demo_texts *texts,
    uint64_t at[DEMO_FILES])
{
	enum err err;

	pthread_mutex_lock(&job->lock);
	while (job->placed != chunk && job->err == ERR_OK)
		pthread_cond_wait(&job->moved, &job->lock);
	err = job->err;
	if (err == ERR_OK) {
		take_places(job, texts, at);
		job->placed++;
		progress_at(
		    &job->progress, job->totals.rows[DEMO_ARTICLES_CSV]);
		pthread_cond_broadcast(&job->moved);
	}
	pthread_mutex_unlock(&job->lock);
	return err;
}

static void *
work(void *context)
{
	struct job *job = context;
	struct demo_texts texts;
	uint64_t at[DEMO_FILES];
	enum err err = ERR_OK;
	uint32_t chunk;

	demo_texts_init(&texts);
	while (err == ERR_OK && take_chunk(job, &chunk)) {
		make_chunk(job, chunk, &texts);
		err = demo_texts_end(&texts);
		if (err == ERR_OK)
			err = place_chunk(job, chunk, &texts, at);
		if (err == ERR_OK)
			err = write_texts(job, &texts, at);
	}
	if (err != ERR_OK)
		give_up(job, err);
	demo_texts_fini(&texts);
	return NULL;
}

static int
thread_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (int)count;
}

/* The calling thread works too, so there is always one. */
static void
work_together(struct job *job)
{
	pthread_t threads[THREADS_MAX];
	int i, count = thread_count(), made = 0;

	while (made < count - 1 &&
	    pthread_create(&threads[made], NULL, work, job) == 0)
		made++;
	work(job);
	for (i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
}

static enum err
write_head(struct job *job)
{
	struct demo_texts texts;
	uint64_t at[DEMO_FILES];
	enum err err;

	demo_texts_init(&texts);
	demo_write_head(&texts, job->plan);
	err = demo_texts_end(&texts);
	if (err == ERR_OK) {
		take_places(job, &texts, at);
		err = write_texts(job, &texts, at);
	}
	demo_texts_fini(&texts);
	return err;
}

static enum err
open_files(struct job *job)
{
	char path[FS_PATH_MAX];
	enum err err;

	for (int i = 0; i < DEMO_FILES; i++) {
		err = fs_path(path, "%s/%s", job->dir, demo_file_names[i]);
		if (err != ERR_OK)
			return err;
		job->fds[i] =
		    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (job->fds[i] < 0) {
			log_error("cannot write: file=%s cause=%s", path,
			    strerror(errno));
			return err_from_errno(errno);
		}
	}
	return ERR_OK;
}

/* A network file system may report a full disk only at close(). */
static enum err
close_files(struct job *job)
{
	enum err err = ERR_OK;

	for (int i = 0; i < DEMO_FILES; i++) {
		if (job->fds[i] < 0 || close(job->fds[i]) == 0)
			continue;
		log_error("cannot write: file=%s cause=%s", demo_file_names[i],
		    strerror(errno));
		err = err_from_errno(errno);
	}
	return err;
}

static enum err
write_files(struct job *job)
{
	enum err err;

	err = fs_mkdir(job->dir);
	if (err != ERR_OK)
		return err;
	err = open_files(job);
	if (err != ERR_OK)
		return err;
	err = write_head(job);
	if (err != ERR_OK)
		return err;
	progress_begin(&job->progress, "demo", "articles",
	    job->plan->listing_count, false);
	work_together(job);
	progress_end(&job->progress);
	return job->err;
}

enum err
demo_run(struct demo_totals *totals, const struct demo_plan *plan,
    const char *dir, bool shuffle)
{
	assert(totals != NULL);
	assert(plan->suppliers != NULL && dir != NULL);
	struct job job = {.plan = plan,
	    .dir = dir,
	    .shuffle = shuffle,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .moved = PTHREAD_COND_INITIALIZER};
	enum err err, end;

	for (int i = 0; i < DEMO_FILES; i++)
		job.fds[i] = -1;
	/*
	 * Windows have a fixed size, so the order does not depend on the number
	 * of threads.
	 */
	job.chunk_size = 1 + CHUNK_SHELVES / plan->store_count;
	job.chunk_count =
	    (plan->listing_count + job.chunk_size - 1) / job.chunk_size;
	err = write_files(&job);
	end = close_files(&job);
	*totals = job.totals;
	return err != ERR_OK ? err : end;
}
