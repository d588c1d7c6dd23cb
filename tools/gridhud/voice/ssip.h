/*
 * ssip: speech-dispatcher's protocol, as far as it takes to say one text and
 * to wait for its end. Blocking: it runs in a process of its own, and killing
 * that stops the speech.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"

struct ssip_job {
	struct span text;
	const char *language; /* "en" */
	int64_t rate; /* words a minute */
};

/* 0 when it was spoken; else the exit code that says it was not. */
int ssip_speak(void *job);
