/*
 * wav: how long a sound file plays.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

/*
 * Milliseconds of a RIFF WAVE file of PCM samples; ERR_BAD_INPUT for what is
 * none. A data chunk that claims more than the file has counts as what is
 * there: programs that write to a pipe do so.
 */
enum err wav_length_ms(int64_t *out, const char *path);
