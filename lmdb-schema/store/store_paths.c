/* The paths of a data directory's files. */
#include "lmdb-schema/store/store.h"

#include <assert.h>

#include "lmdb-schema/key.h"

enum err
store_facts_path(char path[FS_PATH_MAX], const struct store *store,
    uint64_t generation, const char *suffix)
{
	char text[KEY_GENERATION_LEN + 1];

	assert(suffix != NULL);
	key_generation_text(text, generation);
	return fs_path(
	    path, "%s/facts/%s.mdb%s", store_dir(store), text, suffix);
}

enum err
store_snapshot_folder(
    char path[FS_PATH_MAX], const struct store *store, struct span supplier)
{
	char name[KEY_FILE_MAX];

	key_file_text(name, supplier);
	return fs_path(path, "%s/snapshots/%s", store_dir(store), name);
}

enum err
store_snapshot_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix)
{
	char name[KEY_FILE_MAX], text[KEY_GENERATION_LEN + 1];

	assert(suffix != NULL);
	key_file_text(name, supplier);
	key_generation_text(text, generation);
	return fs_path(path, "%s/snapshots/%s/%s.mdb%s", store_dir(store), name,
	    text, suffix);
}
