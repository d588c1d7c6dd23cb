/*
 * Checks the index of all suppliers' words: a missing one is no damage, a
 * damaged one is reported.
 */
#include "lmdb-schema/search/word_index.h"

#include <assert.h>
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/upkeep/check_priv.h"

/*
 * For a current generation the index must have all rows; searches ignore the
 * others.
 */
static void
compare_with_words(struct checking *checking, const struct word_index *index)
{
	for (uint32_t i = 0; i < word_index_head(index)->suppliers; i++) {
		const struct word_index_supplier *supplier =
		    word_index_supplier(index, i);
		struct span code = word_index_code(index, i);
		struct catalog_entry entry;

		if (catalog_get(checking->catalog, code, &entry) != ERR_OK ||
		    entry.generation != supplier->generation)
			continue;
		checking->counts->references++;
		if (entry.rows != supplier->rows)
			checking_tell(checking, SPAN("words.idx"),
			    "supplier %.*s: %u rows, but its snapshot has "
			    "%llu: delete the file, 'gridctl index' makes it "
			    "again",
			    SPAN_ARG(code), supplier->rows,
			    (unsigned long long)entry.rows);
	}
}

enum err
checking_words(struct checking *checking)
{
	struct word_index *index;
	enum err err = word_index_open(&index, checking->store);

	assert(checking->catalog != NULL);
	if (err == ERR_NOT_FOUND) {
		checking->counts->words_missing =
		    word_index_is_missing(checking->store);
		return ERR_OK;
	}
	if (err == ERR_OK) {
		checking->counts->sections += WORD_INDEX_SECTIONS;
		checking->counts->bytes += word_index_head(index)->bytes;
		err = word_index_verify(index);
	}
	if (err == ERR_OK)
		compare_with_words(checking, index);
	else if (!err_is_limit(err))
		checking_tell(checking, SPAN("words.idx"),
		    "%s: searches may miss rows, or find others, until "
		    "'gridctl index' makes it again",
		    err_text(err));
	if (checking->at != NULL)
		checking->at(checking->context, checking->counts->bytes);
	word_index_close(index);
	return err_is_limit(err) ? err : ERR_OK;
}

enum err
checking_words_left(struct checking *checking)
{
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk;
	enum err err = word_index_path(path, checking->store, ".tmp");

	if (err == ERR_OK)
		err = fs_size(path, &bytes, &on_disk);
	checking->counts->leftovers += err == ERR_OK;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}
