/* settings: night.conf, by a table; gridctl(1) lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"

enum night_pack {
	NIGHT_PACK_NONE,
	NIGHT_PACK_DUMPS,
	NIGHT_PACK_PAGES,
	NIGHT_PACK_ZSTD
};

struct night_settings {
	char *inbox, *export_to, *backup_to, *send_to, *ssh, *command, *url,
	    *secret_file;
	int64_t memory, keep, timeout_s;
	int pack; /* enum night_pack */
	bool verify, quiet;
};

extern const struct conf_row night_settings_rows[];
extern const size_t night_settings_count;

/* Whether night.conf names an inbox, which must be there then. */
bool night_settings_has_inbox(const struct night_settings *settings);

/*
 * ERR_BAD_INPUT for a folder that is no whole path, or where the night would write
 * into the data directory, or change a folder above it.
 */
enum err night_settings_check(const struct night_settings *settings,
    const char *data_dir, struct fault *fault);
