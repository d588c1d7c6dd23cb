/*
 * mpris: media players that speak MPRIS on the session bus. The one that is
 * told is the one that plays; else one that is paused; else the first.
 */
#pragma once

#include "common/err.h"

#define MPRIS_NAME_MAX 256

struct mpris; /* the player that was chosen */

/* ERR_NOT_READY: no bus; ERR_NOT_FOUND: "no media player". */
enum err mpris_open(struct mpris **out, struct fault *fault);
void mpris_close(struct mpris *mpris);

/* Without the common beginning of the names: "vlc". */
const char *mpris_player(const struct mpris *mpris);

/* "PlayPause", "Next", ... */
enum err mpris_tell(
    struct mpris *mpris, const char *method, struct fault *fault);
