/*
 * fuzz: what a fuzz target defines. Built with clang and --enable-fuzzers it
 * is a libFuzzer program; otherwise replay.c runs the corpus through it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 0; anything that is wrong ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* assert() that stays in. */
#define FUZZ_CHECK(what) ((what) ? (void)0 : __builtin_trap())
