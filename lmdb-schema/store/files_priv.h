/* files_priv: what the files of files.h share. */
#pragma once

#include "lmdb-schema/store/files.h"

#define FILES_MODE 0644

enum err files_make_folder(const char *dir);

/* Reads to the end, by OpenSSL, as a snapshot may have gigabytes. */
enum err files_sum_of(struct files_id *id, int fd);
