#include "common/display.h"

#include <stdlib.h>

bool
display_is_named(void)
{
	const char *wayland = getenv("WAYLAND_DISPLAY");
	const char *x11 = getenv("DISPLAY");

	return (wayland != NULL && wayland[0] != '\0') ||
	    (x11 != NULL && x11[0] != '\0');
}
