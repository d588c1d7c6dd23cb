/*
 * libfcgi reads a head from a descriptor: here a file in memory that ends with
 * the head, so libfcgi reads no byte beyond it.
 */
#include "fcgi/process/fcgiparams.h"

#include <assert.h>
#include <fcgiapp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fcgi/process/incoming.h"

/* Larger than the longest head. */
#define FILE_LEN ((size_t)128 << 10)
_Static_assert(
    FILE_LEN > INCOMING_PARAMS_MAX + 4 * 8, "the longest head has no room");

struct fcgiparams {
	FCGX_Request request;
	int fd;
	char *map; /* maps its bytes */
};

enum err
fcgiparams_begin(void)
{
	/* How long libfcgi may wait for a faulty peer, in milliseconds. */
	setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "200", 1);
	setenv("LIBFCGI_IS_AF_UNIX_KEEPER_POLL_TIMEOUT", "200", 1);
	return FCGX_Init() == 0 ? ERR_OK : ERR_SYSTEM;
}

static enum err
open_file(struct fcgiparams *params)
{
	void *map = MAP_FAILED;

	params->fd = memfd_create("request", MFD_CLOEXEC);
	if (params->fd >= 0 && ftruncate(params->fd, FILE_LEN) == 0)
		map = mmap(NULL, FILE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
		    params->fd, 0);
	params->map = map == MAP_FAILED ? NULL : map;
	return params->map != NULL ? ERR_OK : ERR_SYSTEM;
}

static void
close_file(struct fcgiparams *params)
{
	if (params->map != NULL)
		munmap(params->map, FILE_LEN);
	if (params->fd >= 0)
		close(params->fd);
	params->map = NULL;
	params->fd = -1;
}

enum err
fcgiparams_new(struct fcgiparams **out)
{
	struct fcgiparams *params = calloc(1, sizeof(*params));

	*out = NULL;
	if (params == NULL)
		return ERR_NO_MEMORY;
	if (open_file(params) != ERR_OK ||
	    FCGX_InitRequest(&params->request, -1, 0) != 0) {
		fcgiparams_free(params);
		return ERR_SYSTEM;
	}
	*out = params;
	return ERR_OK;
}

void
fcgiparams_free(struct fcgiparams *params)
{
	if (params == NULL)
		return;
	close_file(params);
	free(params);
}

enum err
fcgiparams_parse(char ***texts, struct fcgiparams *params, struct span head)
{
	FCGX_Request *request = &params->request;
	size_t at = FILE_LEN - head.len;

	assert(head.len < FILE_LEN);
	if (params->fd < 0 && open_file(params) != ERR_OK)
		return ERR_SYSTEM;
	if (lseek(params->fd, (off_t)at, SEEK_SET) != (off_t)at)
		return ERR_SYSTEM;
	memcpy(params->map + at, head.ptr, head.len);
	request->ipcFd = params->fd;
	request->keepConnection = 1; /* or it is closed as the last one's */
	if (FCGX_Accept_r(request) == 0) {
		*texts = request->envp;
		return ERR_OK;
	}
	/* libfcgi has then closed the descriptor, and finds no listener. */
	params->fd = -1;
	close_file(params);
	return ERR_INTERNAL;
}

void
fcgiparams_release(struct fcgiparams *params)
{
	params->request.ipcFd = -1;
	FCGX_Free(&params->request, 0);
}
