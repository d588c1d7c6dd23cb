#include "tools/gridctl/night/settings.h"

#include <assert.h>
#include <string.h>

#include "common/count.h"
#include "common/fs.h"
#include "tools/gridctl/night/backups.h"

#define INBOX GRID_SPOOL_DIR "/inbox"

#define AT(member) offsetof(struct night_settings, member)

static const char *const packs[] = {"none", "dumps", "pages", "zstd", NULL};

const struct conf_row night_settings_rows[] = {
    {"inbox", "folder", CONF_TEXT, AT(inbox), INBOX, 0, 4000, NULL,
	"Folder that deliveries of CSV files arrive in. Empty: none."},
    {"import", "memory", CONF_INT, AT(memory), "1024", 1, 1 << 24, NULL,
	"MiB of memory; what it does not hold is sorted in files."},
    {"pack", "for", CONF_CHOICE, AT(pack), "dumps", 0, 0, packs,
	"Rows to pack beforehand, as gridctl pack --for: none, dumps, pages, "
	"zstd."},
    {"export", "folder", CONF_TEXT, AT(export_to), "", 0, 4000, NULL,
	"Folder for validated ranges, a file a night. Empty: no export."},
    {"backup", "folder", CONF_TEXT, AT(backup_to), "", 0, 4000, NULL,
	"Folder for backups, one a night. Empty: no backup."},
    {"backup", "keep", CONF_INT, AT(keep), "7", 1, 10000, NULL,
	"Backups kept; the oldest go once the new one is complete."},
    {"backup", "check", CONF_BOOL, AT(verify), "yes", 0, 0, NULL,
	"Read the new backup whole, as gridctl check does, here and at "
	"send_to."},
    {"backup", "send_to", CONF_TEXT, AT(send_to), "", 0, 2000, NULL,
	"Where rsync keeps the backups a second time: USER@HOST:FOLDER, or a "
	"folder of another disk. Empty: nowhere."},
    {"backup", "ssh", CONF_TEXT, AT(ssh), "ssh -o BatchMode=yes", 1, 2000, NULL,
	"The command by which rsync reaches that host."},
    {"report", "command", CONF_TEXT, AT(command), "", 0, 4000, NULL,
	"Shell command that gets the report as its input, and NIGHT_TITLE and "
	"NIGHT_STATE (done, failed) in its environment. Empty: none."},
    {"report", "url", CONF_TEXT, AT(url), "", 0, 2000, NULL,
	"Address that gets the report as JSON, such as gridhook's "
	"http://127.0.0.1:7842/assistant/hook/night. Empty: none."},
    {"report", "secret_file", CONF_TEXT, AT(secret_file), "", 0, 4000, NULL,
	"File with the secret that the address expects, as a bearer token. "
	"Empty: none."},
    {"report", "timeout", CONF_SECONDS, AT(timeout_s), "60s", 1, 3600, NULL,
	"How long the report may take."},
    {"report", "only_failures", CONF_BOOL, AT(quiet), "no", 0, 0, NULL,
	"Report only nights that failed."},
};

const size_t night_settings_count =
    sizeof(night_settings_rows) / sizeof(night_settings_rows[0]);

bool
night_settings_has_inbox(const struct night_settings *settings)
{
	return settings->inbox[0] != '\0' &&
	    strcmp(settings->inbox, INBOX) != 0;
}

/* --- folders -------------------------------------------------------------- */

struct folder {
	const char *name, *path;
	bool outside; /* of the data directory */
	bool beside; /* nor with the data directory in it: no second place */
};

static const char *
why_not(const struct folder *folder, const char *data_dir)
{
	if (folder->outside && fs_is_within(folder->path, data_dir))
		return "is in";
	return folder->beside && fs_is_within(data_dir, folder->path) ? "holds"
								      : NULL;
}

static enum err
check_folder(
    const struct folder *folder, const char *data_dir, struct fault *fault)
{
	const char *why;

	if (folder->path[0] == '\0')
		return ERR_OK;
	if (folder->path[0] != '/') {
		fault_set(fault, folder->name,
		    "is no whole path: name the folder from the root on, as "
		    "in /srv/grid: \"%s\"",
		    folder->path);
		return ERR_BAD_INPUT;
	}
	why = why_not(folder, data_dir);
	if (why == NULL)
		return ERR_OK;
	fault_set(fault, folder->name,
	    "%s %s the data directory %s: name a folder outside of it, best on "
	    "another disk",
	    folder->path, why, data_dir);
	return ERR_BAD_INPUT;
}

enum err
night_settings_check(const struct night_settings *settings,
    const char *data_dir, struct fault *fault)
{
	const struct folder folders[] = {
	    {"[inbox] folder", settings->inbox, false, false},
	    {"[export] folder", settings->export_to, true, false},
	    {"[backup] folder", settings->backup_to, true, false},
	    {"[backup] send_to",
		backups_is_away(settings->send_to) ? "" : settings->send_to,
		true, true},
	};
	enum err err = ERR_OK;

	assert(data_dir != NULL);
	for (size_t i = 0; i < COUNT(folders) && err == ERR_OK; i++)
		err = check_folder(&folders[i], data_dir, fault);
	return err;
}
