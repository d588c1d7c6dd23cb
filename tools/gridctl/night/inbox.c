#include "tools/gridctl/night/inbox.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/span.h"
#include "tools/gridctl/night/inbox_priv.h"

/* --- names ------------------------------------------------------------------ */

static const char *const markers[] = {".manifest", ".done"};

static bool
name_ok(struct span name)
{
	if (name.len == 0 || name.len > NIGHT_NAME_MAX || name.ptr[0] == '.')
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && strchr("._-", c) == NULL)
			return false;
	}
	return true;
}

static bool
cut_end(struct span *name, const char *end)
{
	if (!span_ends(*name, span_of(end)))
		return false;
	*name = span_sub(*name, 0, name->len - strlen(end));
	return true;
}

static bool
is_type(const char *path, mode_t type)
{
	struct stat st;

	return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool
has_marker(const char *folder)
{
	char path[FS_PATH_MAX];

	for (unsigned i = 0; i < 2; i++)
		if (fs_path(path, "%s/%s", folder, markers[i]) == ERR_OK &&
		    is_type(path, S_IFREG))
			return true;
	return false;
}

/* --- what has arrived ------------------------------------------------------- */

struct listing {
	const struct inbox *inbox;
	struct inbox_names *out;
};

static void
add_name(struct inbox_names *out, struct span name)
{
	if (!name_ok(name) || out->count == INBOX_TAKEN_MAX)
		return;
	for (unsigned i = 0; i < out->count; i++)
		if (span_eq(span_of(out->names[i]), name))
			return;
	(void)span_copy(out->names[out->count], NIGHT_NAME_MAX + 1, name);
	out->count++;
}

static enum err
list_name(void *context, const char *text)
{
	struct listing *listing = context;
	char path[FS_PATH_MAX];
	struct span name = span_of(text);
	enum err err = fs_path(path, "%s/%s", listing->inbox->folder, text);

	if (err != ERR_OK)
		return ERR_OK; /* no delivery has such a name */
	if (text[0] == '.') /* an imported one that a crash has left */
		return cut_end(&name, ".taken") && is_type(path, S_IFDIR)
		    ? fs_remove_tree(path)
		    : ERR_OK;
	if (span_ends(name, SPAN(".refused")))
		return ERR_OK;
	if (is_type(path, S_IFREG) &&
	    (cut_end(&name, markers[0]) || cut_end(&name, markers[1])))
		add_name(listing->out, name);
	else if (is_type(path, S_IFDIR) && has_marker(path)) {
		(void)cut_end(&name, ".taking");
		add_name(listing->out, name);
	}
	return ERR_OK;
}

enum err
inbox_list(struct inbox_names *out, const struct inbox *inbox)
{
	struct listing listing = {inbox, out};

	assert(out != NULL);
	memset(out, 0, sizeof(*out));
	return fs_list(inbox->folder, list_name, &listing);
}

/* --- a look at it ------------------------------------------------------------ */

struct looking {
	const struct inbox *inbox;
	void (*each)(void *context, const struct inbox_waiting *waiting);
	void *context;
};

struct age {
	const char *folder;
	int64_t changed_ms;
};

static enum err
take_newer(void *context, const char *name)
{
	struct age *age = context;
	char path[FS_PATH_MAX];
	struct stat st;

	if (fs_path(path, "%s/%s", age->folder, name) == ERR_OK &&
	    lstat(path, &st) == 0 &&
	    st.st_mtim.tv_sec * INT64_C(1000) > age->changed_ms)
		age->changed_ms = st.st_mtim.tv_sec * INT64_C(1000);
	return ERR_OK; /* it may be gone since it was listed */
}

static bool
is_complete(const char *path)
{
	char beside[FS_PATH_MAX];

	for (unsigned i = 0; i < 2; i++)
		if (fs_path(beside, "%s%s", path, markers[i]) == ERR_OK &&
		    is_type(beside, S_IFREG))
			return true;
	return has_marker(path);
}

static enum err
look_at_name(void *context, const char *name)
{
	const struct looking *looking = context;
	struct inbox_waiting waiting = {.name = name};
	char path[FS_PATH_MAX];
	struct age age = {path, 0};

	if (!name_ok(span_of(name)) ||
	    span_ends(span_of(name), SPAN(".refused")) ||
	    span_ends(span_of(name), SPAN(".taking")) ||
	    fs_path(path, "%s/%s", looking->inbox->folder, name) != ERR_OK ||
	    !is_type(path, S_IFDIR))
		return ERR_OK;
	(void)take_newer(&age, "."); /* of the folder itself */
	(void)fs_list(path, take_newer, &age);
	waiting.complete = is_complete(path);
	waiting.changed_ms = age.changed_ms;
	looking->each(looking->context, &waiting);
	return ERR_OK;
}

enum err
inbox_look(const struct inbox *inbox,
    void (*each)(void *context, const struct inbox_waiting *waiting),
    void *context)
{
	struct looking looking = {inbox, each, context};

	assert(inbox != NULL && each != NULL);
	return fs_list(inbox->folder, look_at_name, &looking);
}

/* No folder is fine. */
static enum err
remove_tree(const char *path)
{
	enum err err = fs_remove_tree(path);

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* --- taking ------------------------------------------------------------------ */

/* A marker beside the folder is moved into it. */
static enum err
bring_marker(const struct inbox *inbox, const char *name, const char *marker)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = fs_path(from, "%s/%s%s", inbox->folder, name, marker);

	if (err == ERR_OK)
		err = fs_path(to, "%s/%s/%s", inbox->folder, name, marker);
	if (err != ERR_OK || !is_type(from, S_IFREG))
		return err;
	return rename(from, to) == 0 ? ERR_OK : err_from_errno(errno);
}

/* From here on the sender's name is free for another delivery. */
static enum err
claim(const struct inbox *inbox, const char *name, struct fault *fault)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = fs_path(from, "%s/%s", inbox->folder, name);

	if (err == ERR_OK)
		err = fs_path(to, "%s/%s.taking", inbox->folder, name);
	if (err != ERR_OK || is_type(to, S_IFDIR))
		return err;
	if (!is_type(from, S_IFDIR)) {
		fault_set(fault, from,
		    "is no folder: a delivery is a folder of CSV files, with "
		    "%s.done or %s.manifest beside it",
		    name, name);
		return ERR_BAD_INPUT;
	}
	if (eaccess(from, R_OK | W_OK | X_OK) != 0) {
		fault_set(fault, from,
		    "may not be emptied by the user of the data directory: "
		    "send folders with mode 2770 and files with 660");
		return ERR_DENIED;
	}
	for (unsigned i = 0; i < 2 && err == ERR_OK; i++)
		err = bring_marker(inbox, name, markers[i]);
	if (err == ERR_OK && rename(from, to) != 0)
		err = err_from_errno(errno);
	return err == ERR_OK ? fs_sync_folder(to) : err;
}

static enum err
copy_aside(const char *from, const char *aside, const char *to, uint64_t *files,
    struct fault *fault)
{
	enum err err = remove_tree(aside);

	if (err == ERR_OK)
		err = fs_mkdir(aside);
	if (err == ERR_OK)
		err = inbox_copy_files(from, aside, files, fault);
	if (err == ERR_OK)
		err = remove_tree(to);
	if (err == ERR_OK)
		return fs_publish(aside, to);
	(void)remove_tree(aside); /* else the next take does */
	return err;
}

enum err
inbox_take(const struct inbox *inbox, const char *name, uint64_t *files,
    struct fault *fault)
{
	char from[FS_PATH_MAX], aside[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = claim(inbox, name, fault);

	if (err == ERR_OK)
		err = fs_path(from, "%s/%s.taking", inbox->folder, name);
	if (err == ERR_OK)
		err = fs_path(aside, "%s/%s.tmp", inbox->work, name);
	if (err == ERR_OK)
		err = fs_path(to, "%s/%s", inbox->work, name);
	if (err == ERR_OK)
		err = fs_mkdir(inbox->work);
	return err == ERR_OK ? copy_aside(from, aside, to, files, fault) : err;
}

enum err
inbox_copy(
    char path[], bool *merge, const struct inbox *inbox, const char *name)
{
	char mode[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/%s", inbox->work, name);

	if (err == ERR_OK)
		err = fs_path(mode, "%s/.merge", path);
	if (err == ERR_OK && !is_type(path, S_IFDIR))
		err = ERR_NOT_FOUND;
	*merge = err == ERR_OK && is_type(mode, S_IFREG);
	return err;
}

/* --- the end of a delivery ---------------------------------------------------- */

static enum err
drop_copy(const struct inbox *inbox, const char *name)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/%s", inbox->work, name);

	if (err == ERR_OK)
		err = remove_tree(path);
	return err;
}

enum err
inbox_finish(const struct inbox *inbox, const char *name)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = fs_path(from, "%s/%s.taking", inbox->folder, name);

	if (err == ERR_OK)
		err = fs_path(to, "%s/.%s.taken", inbox->folder, name);
	if (err == ERR_OK && is_type(from, S_IFDIR)) {
		err = fs_publish(from, to);
		if (err == ERR_OK)
			err = fs_remove_tree(to);
	}
	return err == ERR_OK ? drop_copy(inbox, name) : err;
}

static enum err
set_aside(const struct inbox *inbox, const char *name, const char *end)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = fs_path(from, "%s/%s%s", inbox->folder, name, end);

	if (err == ERR_OK && strcmp(end, ".taking") == 0)
		end = "";
	if (err == ERR_OK)
		err = fs_path(to, "%s/%s%s.refused", inbox->folder, name, end);
	if (err != ERR_OK || access(from, F_OK) != 0)
		return err;
	err = remove_tree(to);
	return err == ERR_OK ? fs_publish(from, to) : err;
}

enum err
inbox_refuse(const struct inbox *inbox, const char *name)
{
	char taking[FS_PATH_MAX];
	enum err err = fs_path(taking, "%s/%s.taking", inbox->folder, name);

	if (err == ERR_OK && is_type(taking, S_IFDIR))
		err = set_aside(inbox, name, ".taking");
	else if (err == ERR_OK) {
		for (unsigned i = 0; i < 2 && err == ERR_OK; i++)
			err = set_aside(inbox, name, markers[i]);
		if (err == ERR_OK)
			err = set_aside(inbox, name, "");
	}
	return err == ERR_OK ? drop_copy(inbox, name) : err;
}
