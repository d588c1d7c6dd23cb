#include "fcgi/search/peers.h"

#include <stdlib.h>

#include "common/digest.h"

enum err
peers_new(struct peers **out, const char *dir, struct fault *fault)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	enum err err;

	*out = peers;
	if (peers == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&peers->lock, NULL);
	err = cluster_peers(&peers->files, dir, fault);
	peers->trust = (struct ask_trust){
	    peers->files.ca, peers->files.cert, peers->files.key};
	if (err == ERR_OK)
		return ERR_OK;
	peers_free(peers);
	*out = NULL;
	return err;
}

void
peers_free(struct peers *peers)
{
	if (peers == NULL)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers->orders);
	digest_forget(&peers->files, sizeof(peers->files));
	free(peers);
}
