/* display: whether this process has been told of a display. */
#pragma once

#include <stdbool.h>

/* True when WAYLAND_DISPLAY or DISPLAY is set; neither is connected to. */
bool display_is_named(void);
