/* A settings file, read over gridapi's defaults. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/log.h"
#include "fcgi/settings.h"
#include "tests/fuzz/fuzz.h"

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
within_limits(const void *settings)
{
	for (size_t i = 0; i < settings_count; i++) {
		const struct conf_row *row = &settings_rows[i];
		const char *at = (const char *)settings + row->offset;
		int64_t value;

		if (row->type == CONF_TEXT)
			FUZZ_CHECK(
			    *(const char *const *)(const void *)at != NULL);
		if (row->type != CONF_INT && row->type != CONF_SIZE &&
		    row->type != CONF_SECONDS)
			continue;
		memcpy(&value, at, sizeof(value));
		FUZZ_CHECK(value >= row->min && value <= row->max);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int fd = -1;
	static char path[64];
	struct api_settings settings;
	struct fault fault;
	enum err err;

	if (fd < 0) {
		log_catch(drop_line);
		fd = memfd_create("settings", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
	memset(&settings, 0, sizeof(settings));
	fault_clear(&fault);
	FUZZ_CHECK(conf_defaults(&settings, settings_rows, settings_count,
		       &fault) == ERR_OK);
	err = conf_read(&settings, settings_rows, settings_count, path, &fault);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK((err == ERR_OK) == !fault_is_set(&fault));
	within_limits(&settings);
	conf_fini(&settings, settings_rows, settings_count);
	return 0;
}
