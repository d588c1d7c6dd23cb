#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/kv/kv_env.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

#define TRIES_MAX 100

/* One reader's view; *again when writers were faster. */
static enum err
look(struct kv *kv, int fd, bool *again)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, kv);

	*again = false;
	if (err != ERR_OK)
		return err; /* which has been logged */
	err = kvpages_check_view(fd, kv_txn_id(txn));
	*again = err == ERR_BUSY;
	kv_abort(txn);
	if (err != ERR_OK && err != ERR_BUSY)
		log_error("storage: the file's pages cannot be walked: file=%s "
			  "error=%s",
		    kv->path, err_text(err));
	return err;
}

enum err
kv_verify(struct kv *kv)
{
	/* Closing it loses no lock: LMDB's are all on the lock file. */
	int fd = open(kv->path, O_RDONLY | O_CLOEXEC);
	enum err err = ERR_BUSY;
	bool again = true;

	if (fd < 0)
		return kv_failed(kv, "opening", errno);
	for (int i = 0; again && i < TRIES_MAX; i++)
		err = look(kv, fd, &again);
	close(fd);
	return err;
}
