/*
 * zip: a ZIP archive that is written as it grows: each file's length and CRC
 * stand behind its bytes, and all of them again in the list at the end.
 *
 *	zip_open(); for each file zip_file(), zip_add() …, zip_file_end();
 *	zip_end(); zip_close() in any case
 *
 * Without the extension for 4 GB and more: ERR_TOO_LARGE.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct iovbuf;
struct zip;

/* Writes into `to`; NULL: no memory. */
struct zip *zip_open(struct iovbuf *to);

enum err zip_file(struct zip *zip, struct span name);
enum err zip_add(struct zip *zip, struct span text);
enum err zip_file_end(struct zip *zip);

/* The list of the files. */
enum err zip_end(struct zip *zip);

/* NULL is fine. */
void zip_close(struct zip *zip);
