#include "lmdb-schema/store/files_refusal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/count.h"
#include "common/web/ask.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/files.h"

static const struct files_refusal refusals[] = {
    {"it answered 401", "the secret of this node is not that of",
	"compare the files that secret_file names, then 'gridctl cluster "
	"nginx'",
	true},
    {"it answered 403", "nginx may not read the folder files of",
	"on that node, as root, 'systemd-tmpfiles --create "
	"product-grid-cluster.conf' (docs/cluster.md)",
	true},
    {"it answered 404", "nginx finds no such file in the folder files of",
	"on that node, as root: '(umask 077; gridctl cluster nginx "
	">/etc/product-grid/cluster-nginx.conf)', then 'systemctl reload "
	"nginx'",
	false},
    /* No answer: libcurl's words say that the certificate is not trusted. */
    {NULL, "this node does not trust the certificate of",
	"ca in cluster.conf names a file with the certificate of the authority "
	"that has signed it, and with that of etcd's",
	true},
};

const struct files_refusal *
files_refusal_of(const char *why)
{
	for (size_t i = 0; i < COUNT(refusals); i++)
		if (refusals[i].answer == NULL
			? ask_distrusts(why)
			: strcmp(why, refusals[i].answer) == 0)
			return &refusals[i];
	return NULL;
}

/* --- what is logged -------------------------------------------------------- */

/* The nodes and the bucket: where there are more, the oldest one goes. */
#define TOLD_MAX (FILES_HOLDERS_MAX + 1)

/* Where there was no answer, the reason differs by the milliseconds in it. */
static struct told {
	char holder[ENGINE_NODE_TEXT_MAX];
	enum err err; /* ERR_OK: it has given a file since */
	const struct files_refusal *refusal;
} told[TOLD_MAX];

static unsigned next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct told *
find(const char *holder)
{
	for (unsigned i = 0; i < TOLD_MAX; i++)
		if (strcmp(told[i].holder, holder) == 0)
			return &told[i];
	return NULL;
}

static struct told *
add(const char *holder)
{
	struct told *one = &told[next++ % TOLD_MAX];

	*one = (struct told){.err = ERR_OK};
	snprintf(one->holder, sizeof(one->holder), "%s", holder);
	return one;
}

bool
files_refusal_is_new(const char *holder, enum err err, const char *why)
{
	const struct files_refusal *refusal = files_refusal_of(why);
	struct told *one;
	bool is_new;

	pthread_mutex_lock(&lock);
	one = find(holder);
	if (one == NULL)
		one = add(holder);
	is_new = one->err != err || one->refusal != refusal;
	one->err = err;
	one->refusal = refusal;
	pthread_mutex_unlock(&lock);
	return is_new;
}

bool
files_refusal_ends(const char *holder)
{
	struct told *one;
	bool ends;

	pthread_mutex_lock(&lock);
	one = find(holder);
	ends = one != NULL && one->refusal != NULL && one->refusal->lasts;
	if (one != NULL) {
		one->err = ERR_OK;
		one->refusal = NULL;
	}
	pthread_mutex_unlock(&lock);
	return ends;
}
