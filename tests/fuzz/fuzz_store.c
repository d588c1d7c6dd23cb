/*
 * A data directory from a hostile disk: damage (made.h) laid over its live,
 * catalogue or state environment, over its facts, or over one of the first
 * three as version 1 kept it, where no checksum stands before the decoders;
 * the first byte says over which. It opens or is refused, and a check reads
 * all of it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"
#include "tests/lmdb-schema/plain.h"

#define FACTS PLAIN_FILES /* after the environments */
#define SOUND (FACTS + 1)
#define FILES (SOUND + PLAIN_FILES)

/* The last have the paths of the first, and other contents. */
static struct {
	char path[FS_PATH_MAX];
	struct buf sound;
} files[FILES];

static void
keep(unsigned which, const char *path)
{
	buf_init(&files[which].sound, (size_t)64 << 20);
	FUZZ_CHECK(fs_read(&files[which].sound, path) == ERR_OK);
}

static void
keep_plain(unsigned which)
{
	char plain[FS_PATH_MAX];

	FUZZ_CHECK(fs_path(plain, "%s/plain.tmp", made_demo()) == ERR_OK);
	FUZZ_CHECK(plain_copy(which, files[which].path, plain) == ERR_OK);
	keep(SOUND + which, plain);
	FUZZ_CHECK(unlink(plain) == 0);
	memcpy(files[SOUND + which].path, files[which].path, FS_PATH_MAX);
}

static void
begin(void)
{
	const char *data = made_demo();
	char facts[FS_PATH_MAX];

	made_gridctl(data, "key create --name f --scope propose");
	made_gridctl(data, "user add u <<'.'\nabcdefghijkl\n.");
	FUZZ_CHECK(fs_path(facts, "%s/facts", data) == ERR_OK);
	for (unsigned i = 0; i < SOUND; i++) {
		files[i].path[0] = '\0';
		if (i == FACTS)
			made_find(files[i].path, facts, ".mdb");
		else
			made_find(files[i].path, data, plain_files[i]);
		keep(i, files[i].path);
	}
	for (unsigned i = 0; i < PLAIN_FILES; i++)
		keep_plain(i);
}

static void
put_back(void)
{
	for (unsigned i = 0; i < SOUND; i++)
		made_write(
		    files[i].path, files[i].sound.data, files[i].sound.len);
}

static void
damage(unsigned which, struct span patches)
{
	size_t len = files[which].sound.len;
	char *file = malloc(len);

	FUZZ_CHECK(file != NULL);
	memcpy(file, files[which].sound.data, len);
	made_damage(file, len, patches);
	made_write(files[which].path, file, len);
	free(file);
}

static void
told(void *context, const struct fault *fault)
{
	(void)context;
	FUZZ_CHECK(fault_is_set(fault));
}

static enum err
pass_over(void *context, const struct source_supplier *supplier)
{
	*(uint64_t *)context += supplier->articles + supplier->name.len;
	return ERR_OK;
}

static void
read_all(struct store *store)
{
	struct check_counts counts = {0};
	struct source *source;
	uint64_t sum = 0;

	if (source_open(&source, store) == ERR_OK)
		source_suppliers(source, pass_over, &sum);
	source_close(source);
	check_store(&counts, store, told, NULL, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct store *store;
	struct fault fault;

	if (len == 0)
		return 0;
	if (files[0].sound.len == 0)
		begin();
	put_back();
	damage(data[0] % FILES, span_from(span_make(data, len), 1));
	fault_clear(&fault);
	if (store_open(&store, made_demo(), &fault) == ERR_OK)
		read_all(store);
	store_close(store);
	return 0;
}
