/*
 * gridctl doctor: looks at what a running grid needs, a line each, with what to
 * do. It changes nothing, and nothing that is served waits for it.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/members.h"
#include "common/opt.h"
#include "common/owner.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/stat.h"
#include "tools/gridctl/doctor.h"

#define HOUR_MS INT64_C(3600000)
#define IMPORT_OLD_MS (36 * HOUR_MS)
#define FULL_BYTES ((uint64_t)64 << 10) /* a few pages of state.mdb */
#define PROPOSAL_OLD_MS (7 * 24 * HOUR_MS)

#define SITE "/etc/nginx/sites-enabled/product-grid"

struct options {
	const char *url, *site, *settings;
	bool json;
};

static const struct opt_row rows[] = {
    {"--url", 0, OPT_TEXT, offsetof(struct options, url), 0, 0, "URL",
	"where nginx listens (default: as its site says)"},
    {"--site", 0, OPT_TEXT, offsetof(struct options, site), 0, 0, "FILE",
	"nginx's site (default: " SITE ")"},
    {"--settings", 0, OPT_TEXT, offsetof(struct options, settings), 0, 0,
	"FILE", "of the night, instead of " GRID_NIGHT_CONF},
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] doctor [OPTION]...",
    .about =
	"Checks the data directory, the disk, the clock, the age of the "
	"data, the files of the audit trail, the hooks, the backups, the "
	"night, its inbox, the services, the site and, on a node of a "
	"cluster, the log, the nodes and what nginx has for the others, and "
	"says for each "
	"whether it is "
	"in order and, if not, what to do. Exit code "
	"0: nothing is wrong. It changes nothing; 'gridctl check' reads "
	"every stored byte.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

void
doctor_say(struct doctor *doctor, enum doctor_level level, const char *about,
    const char *todo, const char *format, ...)
{
	static const char *const levels[] = {"ok", "look", "WRONG"};
	struct jsonw *json = &doctor->list.json;
	char text[1024];
	va_list args;

	assert(level <= DOCTOR_WRONG);
	assert(about != NULL && format != NULL);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	doctor->counts[level]++;
	if (!doctor->list.as_json) {
		buf_addf(&doctor->list.text, "%-6s %-16s %s\n", levels[level],
		    about, text);
		if (todo != NULL)
			buf_addf(&doctor->list.text, "%24s%s\n", "-> ", todo);
		return;
	}
	jsonw_object_begin(json);
	members_given(
	    json, "level", level == DOCTOR_WRONG ? "wrong" : levels[level]);
	members_given(json, "about", about);
	members_given(json, "text", text);
	members_given(json, "todo", todo);
	jsonw_object_end(json);
}

/* --- the data directory --------------------------------------------------- */

static bool
is_of_another(const void *context, const char *path, const struct stat *found)
{
	(void)path;
	return found->st_uid != *(const uid_t *)context;
}

/* After a restore or a chown by root, on a machine that has the service's user. */
static bool
is_roots(const char *folder, uid_t owner)
{
	return owner == 0 && strcmp(folder, GRID_DATA_DIR) == 0 &&
	    getpwnam("product-grid") != NULL;
}

static void
look_at_owners(struct doctor *doctor)
{
	const char *folder = cmd_data_dir();
	char todo[FS_PATH_MAX + 64], other[FS_PATH_MAX];
	struct stat found;

	if (stat(folder, &found) != 0 || eaccess(folder, R_OK) != 0)
		return; /* store_open() has told it */
	snprintf(todo, sizeof(todo), "as root: chown -R --reference=%s %s",
	    folder, folder);
	if (is_roots(folder, found.st_uid))
		doctor_say(doctor, DOCTOR_WRONG, "owner",
		    "as root: chown -R product-grid: " GRID_DATA_DIR
		    ", then start gridapi again",
		    "%s is root's: gridapi runs as product-grid", folder);
	else if (cmd_below(other, is_of_another, &found.st_uid))
		doctor_say(doctor, DOCTOR_WRONG, "owner", todo,
		    "%s belongs to another user", other);
	else if (access(folder, W_OK) != 0)
		doctor_say(doctor, DOCTOR_WRONG, "owner",
		    errno == EROFS ? "mount the disk for writing again: read "
				     "the kernel's log first"
				   : "run this as the folder's owner, or root",
		    "nothing can be written: %s", strerror(errno));
	else
		doctor_say(doctor, DOCTOR_FINE, "owner", NULL,
		    "all files belong to the folder's owner");
}

/* On a machine on its own both are 0. */
struct nodes_bytes {
	uint64_t import, snapshots;
};

static enum err
measure_nodes(struct nodes_bytes *out, struct store *store)
{
	struct computed_counts computed;
	enum err err = edition_bytes(&out->import, store);

	if (err == ERR_OK)
		err = computed_count(&computed, store);
	out->snapshots = err == ERR_OK ? computed.kept_bytes : 0;
	return err;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Bytes of the last import and its snapshots. A node of a cluster may not have them
 * yet: `nodes` has the bytes of those of all nodes, as far as they are known.
 */
static uint64_t
once_more(const struct stat_counts *counts, const struct nodes_bytes *nodes)
{
	return larger(counts->facts_bytes, nodes->import) +
	    larger(counts->snapshot_bytes, nodes->snapshots) +
	    counts->packed_rows_bytes;
}

static void
look_at_disk(
    struct doctor *doctor, const struct stat_counts *counts, uint64_t needed)
{
	char todo[FS_PATH_MAX + 160];

	snprintf(todo, sizeof(todo),
	    "'gridctl prune --grace 0s'; if that frees too little, 'df %s' "
	    "names the disk: remove what is not Product Grid's, or enlarge it",
	    cmd_data_dir());
	if (counts->free_bytes < needed)
		doctor_say(doctor, DOCTOR_WRONG, "disk", todo,
		    "%s are free: %sa new import and its snapshots may take "
		    "%s",
		    cmd_bytes(counts->free_bytes),
		    counts->free_bytes < FULL_BYTES
			? "proposals may be refused, and "
			: "",
		    cmd_bytes(needed));
	else
		doctor_say(doctor, DOCTOR_FINE, "disk", NULL, "%s are free",
		    cmd_bytes(counts->free_bytes));
}

static void
look_at_import(
    struct doctor *doctor, const struct stat_counts *counts, int64_t now_ms)
{
	int64_t age_ms = now_ms - (int64_t)(counts->facts / 1000);
	unsigned long long hours = (unsigned long long)(age_ms / HOUR_MS);

	if (counts->facts == 0)
		doctor_say(doctor, DOCTOR_WRONG, "import",
		    "'gridctl import FOLDER'; product-grid-csv(5) says what "
		    "the files hold",
		    "nothing was imported yet");
	else if (age_ms < -HOUR_MS)
		doctor_say(doctor, DOCTOR_WRONG, "clock",
		    "set the clock: 'timedatectl'",
		    "the last import lies in the future");
	else if (age_ms > IMPORT_OLD_MS)
		doctor_say(doctor, DOCTOR_LOOK, "import",
		    "did the files arrive, did the import run?",
		    "the last one was %llu hours ago", hours);
	else
		doctor_say(doctor, DOCTOR_FINE, "import", NULL,
		    "%s articles, %llu hours ago", cmd_count(counts->articles),
		    age_ms < 0 ? 0 : hours);
}

static void
say_waiting(struct doctor *doctor, const struct stat_counts *counts)
{
	char foreign[96] = "";

	if (counts->foreign > 0)
		snprintf(foreign, sizeof(foreign),
		    ", %s as their snapshot is of another version of Product "
		    "Grid",
		    cmd_count(counts->foreign));
	doctor_say(doctor, DOCTOR_LOOK, "snapshots",
	    counts->absent == 0
		? "'gridctl compute --stale'; its timer does it each hour"
		: "'gridctl compute --stale --absent'",
	    "suppliers that wait for a computation: %s, %s of them for their "
	    "first%s",
	    cmd_count(counts->stale + counts->absent),
	    cmd_count(counts->absent), foreign);
}

static void
look_at_snapshots(struct doctor *doctor, const struct stat_counts *counts)
{
	if (counts->lost > 0)
		doctor_say(doctor, DOCTOR_WRONG, "damage",
		    "test the disk, then 'gridctl check' and 'gridctl compute "
		    "--stale'",
		    "snapshots that were found damaged: %s",
		    cmd_count(counts->lost));
	if (counts->stale + counts->absent > 0)
		say_waiting(doctor, counts);
	else
		doctor_say(doctor, DOCTOR_FINE, "snapshots", NULL,
		    "all %s are current", cmd_count(counts->snapshots));
	if (counts->indexed < counts->snapshots && counts->snapshots > 1)
		doctor_say(doctor, DOCTOR_LOOK, "words",
		    "'gridctl index' makes searches across suppliers fast",
		    "%s of %s snapshots are in the index",
		    cmd_count(counts->indexed), cmd_count(counts->snapshots));
}

static void
look_at_proposals(
    struct doctor *doctor, const struct stat_counts *counts, int64_t now_ms)
{
	int64_t age_ms = now_ms - (int64_t)counts->pending_since_ms;
	bool old = counts->pending > 0 && age_ms > PROPOSAL_OLD_MS;

	doctor_say(doctor, old ? DOCTOR_LOOK : DOCTOR_FINE, "proposals",
	    old ? "a buyer decides, in the Grid screen" : NULL,
	    old ? "%s wait, the oldest for over a week" : "%s wait",
	    cmd_count(counts->pending));
}

/* A hook's receiver is another's, so that none of it is wrong here. */
static void
look_at_hooks(
    struct doctor *doctor, const struct stat_hooks *hooks, int64_t now_ms)
{
	bool old = hooks->oldest_ms != 0 &&
	    now_ms - (int64_t)hooks->oldest_ms > HOUR_MS;

	if (hooks->stopped > 0)
		doctor_say(doctor, DOCTOR_LOOK, "hooks",
		    "'gridctl hook list' says why; 'gridctl hook resend NAME' "
		    "lets it go on, 'gridctl hook remove NAME' ends it",
		    "stopped: %s", cmd_count(hooks->stopped));
	if (hooks->failing > 0)
		doctor_say(doctor, DOCTOR_LOOK, "hooks",
		    "'gridctl hook list' says why, 'gridctl hook test NAME' "
		    "tries it",
		    "failing: %s", cmd_count(hooks->failing));
	if (old)
		doctor_say(doctor, DOCTOR_LOOK, "hooks",
		    "'gridctl hook list' names the hook; is there a process "
		    "'gridctl hook deliver'?",
		    "one of %s events that wait is over an hour old",
		    cmd_count(hooks->waiting));
	if (hooks->lost > 0)
		doctor_say(doctor, DOCTOR_LOOK, "hooks",
		    "'gridctl hook lost NAME' lists them, 'gridctl hook "
		    "resend NAME' sends them",
		    "events that were given up: %s", cmd_count(hooks->lost));
	if (hooks->stopped + hooks->failing + hooks->lost == 0 && !old)
		doctor_say(doctor, DOCTOR_FINE, "hooks", NULL,
		    "fine: %s, events that wait: %s",
		    cmd_count(hooks->fine + hooks->catching_up),
		    cmd_count(hooks->waiting));
}

/* Some faults say by themselves what to do. `chmod` is for an owner's own path. */
static const char *
mend_data(enum err err, const struct fault *fault, bool own, const char *chmod)
{
	if (err == ERR_BAD_INPUT)
		return DOCTOR_MEND_CLUSTER;
	if (err == ERR_DAMAGED && !fault_is_set(fault))
		return "'gridctl check' says what is left";
	if (err != ERR_DENIED)
		return NULL;
	if (own)
		return chmod;
	return owner_name() == NULL ? "sudo gridctl doctor"
				    : "see the owner below";
}

static void
say_unreadable(struct doctor *doctor, enum err err, const struct fault *fault)
{
	char path[FS_PATH_MAX] = "", chmod[FS_PATH_MAX + 24];
	bool own = false;

	if (err == ERR_DENIED)
		(void)cmd_denied(path, &own);
	snprintf(chmod, sizeof(chmod), "as root: chmod u+rwX %s", path);
	doctor_say(doctor, DOCTOR_WRONG, "data",
	    mend_data(err, fault, own, chmod), "%s: %s",
	    fault->place[0] != '\0' ? fault->place
		: path[0] != '\0'   ? path
				    : cmd_data_dir(),
	    fault->message[0] != '\0' ? fault->message : err_text(err));
	look_at_owners(doctor);
}

static void
look_at_data(struct doctor *doctor)
{
	struct store *store = NULL;
	struct stat_counts counts;
	struct nodes_bytes nodes;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_open(&store, cmd_data_dir(), &fault);
	if (err == ERR_OK)
		err = stat_collect(&counts, store);
	if (err == ERR_OK)
		err = measure_nodes(&nodes, store);
	if (err != ERR_OK) {
		store_close(store);
		say_unreadable(doctor, err, &fault);
		return;
	}
	doctor_say(doctor, DOCTOR_FINE, "data", NULL, "%s can be read",
	    cmd_data_dir());
	look_at_owners(doctor);
	look_at_disk(doctor, &counts, once_more(&counts, &nodes));
	look_at_import(doctor, &counts, date_now_ms());
	look_at_snapshots(doctor, &counts);
	look_at_proposals(doctor, &counts, date_now_ms());
	doctor_trail(doctor, store);
	look_at_hooks(doctor, &counts.hooks, date_now_ms());
	doctor_nodes(doctor, store);
	store_close(store);
	if (counts.facts != 0)
		doctor_backups(doctor);
	doctor_night(doctor);
}

int
cmd_doctor(int argc, char **argv)
{
	struct options options = {NULL, SITE, NULL, false};
	struct doctor doctor = {.counts = {0}};
	struct timex kernel = {0}; /* no modes: it is asked, not set */
	struct doctor_nginx *nginx;
	int args, result = cmd_options(&options, &spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	cmd_list_begin(&doctor.list, options.json);
	nginx = doctor_nginx_read(options.site);
	/* The data are looked at as gridapi sees them. */
	if (owner_read_own() != ERR_OK)
		doctor_say(&doctor, DOCTOR_LOOK, "owner", NULL,
		    "root's permission to read could not be given up: %s",
		    strerror(errno));
	look_at_data(&doctor);
	doctor_inbox(&doctor, options.settings);
	doctor_clock(&doctor, adjtimex(&kernel), &kernel);
	doctor_limits(&doctor);
	doctor_services(&doctor);
	doctor_site(&doctor, options.url, options.site, cmd_data_dir());
	doctor_nginx(&doctor, nginx, cmd_data_dir());
	if (!options.json)
		buf_addf(&doctor.list.text, "%u wrong, %u to look at, %u ok\n",
		    doctor.counts[DOCTOR_WRONG], doctor.counts[DOCTOR_LOOK],
		    doctor.counts[DOCTOR_FINE]);
	result = cmd_list_end(&doctor.list, "doctor", ERR_OK);
	return doctor.counts[DOCTOR_WRONG] > 0 ? CMD_FAILED : result;
}
