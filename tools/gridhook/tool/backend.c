#include "tools/gridhook/tool/backend.h"

#include <assert.h>

#include "config.h"

static const struct {
	const char *name;
	bool in;
} backends[] = {
    {"x11", HAVE_X11},
    {"dbus", HAVE_DBUS},
    {"png", HAVE_PNG},
    {"jpeg", HAVE_JPEG},
};

bool
backend_print(FILE *file)
{
	assert(file != NULL);
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		fprintf(file, "%s %s\n", backends[i].name,
		    backends[i].in ? "yes" : "no");
	return fflush(file) == 0;
}
