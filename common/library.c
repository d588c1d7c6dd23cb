#include "common/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The name that could be loaded is in *name; NULL: a fault for the first. */
static void *
open_first(
    const struct library *library, const char **name, struct fault *fault)
{
	for (const char *const *at = library->names; *at != NULL; at++) {
		void *handle = dlopen(*at, RTLD_NOW | RTLD_LOCAL);

		*name = *at;
		if (handle != NULL) {
			fault_clear(fault);
			return handle;
		}
		fault_set(fault, *at,
		    "cannot be loaded (%s): install the package %s", dlerror(),
		    library->package);
	}
	return NULL;
}

enum err
library_load(const struct library *library, struct fault *fault)
{
	const char *name = NULL;
	void *handle;

	assert(library->names[0] != NULL);
	handle = open_first(library, &name, fault);
	if (handle == NULL)
		return ERR_NOT_FOUND;
	for (const struct library_function *want = library->functions;
	     want->name != NULL; want++)
		if (dlsym(handle, want->name) == NULL) {
			fault_set(fault, name,
			    "has no function %s: install a newer version of "
			    "the package %s",
			    want->name, library->package);
			dlclose(handle);
			return ERR_NOT_FOUND;
		}
	for (const struct library_function *want = library->functions;
	     want->name != NULL; want++) {
		void *found = dlsym(handle, want->name);

		/* C has no cast from an object's address to a function's. */
		memcpy(want->at, &found, sizeof(found));
	}
	return ERR_OK;
}
