/*
 * find_files: names below the folders that the owner allows, never contents.
 * A caller's folder is reached from an allowed one by descriptors, so that no
 * link and no ".." leads out of it.
 */
#include "common/members.h"
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/utf8.h"
#include "tools/gridhook/tool/namematch.h"
#include "tools/gridhook/tool/walk.h"

#define QUERY_MAX 1024
#define RESULTS_MAX 500
#define RESULTS_DEFAULT 50

struct search {
	struct namematch match;
	struct jsonw *json;
	int64_t found, limit;
};

static bool
fits(void *context, const char *name)
{
	struct search *search = context;

	return namematch_fits(&search->match, name);
}

/* A name that is no UTF-8 is shown with \xNN for its bytes beyond ASCII. */
static void
write_path(struct jsonw *json, const char *path)
{
	char shown[4 * FS_PATH_MAX];
	size_t used = 0;

	if (utf8_is_valid(span_of(path))) {
		jsonw_text(json, path);
		return;
	}
	for (; *path != '\0'; path++) {
		unsigned char byte = (unsigned char)*path;

		if (byte < 0x80)
			shown[used++] = *path;
		else
			used += (size_t)snprintf(shown + used,
			    sizeof(shown) - used, "\\x%02x", byte);
	}
	jsonw_string(json, span_make(shown, used));
}

static bool
found(void *context, const char *path, const struct stat *info)
{
	struct search *search = context;
	struct jsonw *json = search->json;
	char time[DATE_TEXT_MAX];

	if (search->found == search->limit)
		return false;
	search->found++;
	date_instant_text(time,
	    (int64_t)info->st_mtim.tv_sec * 1000 +
		info->st_mtim.tv_nsec / 1000000);
	jsonw_object_begin(json);
	jsonw_key(json, "path");
	write_path(json, path);
	members_bool(json, "is_dir", S_ISDIR(info->st_mode));
	members_int(json, "size", (int64_t)info->st_size);
	members_string(json, "modified", time);
	jsonw_object_end(json);
	return true;
}

static void
trim_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

/* "x", "~/x" and "/home/me/x" alike as the last of them. */
static enum err
absolute(char path[FS_PATH_MAX], struct span asked, struct fault *fault)
{
	const char *home = getenv("HOME");
	enum err err;

	if (span_eq(asked, SPAN("~")) || span_starts(asked, SPAN("~/")))
		asked = span_from(asked, 2);
	else if (span_starts(asked, SPAN("/")))
		home = NULL;
	if (home == NULL && !span_starts(asked, SPAN("/"))) {
		fault_set(fault, "path", "not found: no home folder is known");
		return ERR_NOT_FOUND;
	}
	err = home == NULL ? fs_path(path, "%.*s", SPAN_ARG(asked))
			   : fs_path(path, "%s/%.*s", home, SPAN_ARG(asked));
	if (err == ERR_OK)
		trim_slashes(path);
	return err;
}

/* The part of `path` below `root`: "." for itself, NULL for nothing. */
static const char *
below(const char *root, const char *path)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '/')
		len--;
	if (strncmp(root, path, len) != 0)
		return NULL;
	if (path[len] == '\0')
		return ".";
	if (path[len] != '/')
		return NULL;
	while (path[len] == '/')
		len++;
	return path[len] == '\0' ? "." : path + len;
}

/* The owner's own folder may well be a link. */
static int
open_root(const char *root)
{
	return open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static enum err
refuse_path(const char *path, int code, struct fault *fault)
{
	if (code == ENOENT || code == ENOTDIR)
		fault_set(fault, "path", "not found: folder %s", path);
	else if (code == ELOOP)
		fault_set(fault, "path",
		    "not allowed: path %s leads through a link", path);
	else if (code == EXDEV || code == 0)
		fault_set(fault, "path",
		    "not allowed: path %s is outside the folders that may be "
		    "searched",
		    path);
	else
		fault_set(fault, "path", "folder %s cannot be read: %s", path,
		    err_text(err_from_errno(code)));
	return code == 0 ? ERR_DENIED : err_from_errno(code);
}

/* The caller's folder, by way of the first root that it lies below. */
static enum err
search_path(struct walk *walk, const char *const *roots, struct span asked,
    struct fault *fault)
{
	char path[FS_PATH_MAX];
	int code = 0, root, fd = -1;
	enum err err;

	err = absolute(path, asked, fault);
	if (err != ERR_OK)
		return err;
	for (; *roots != NULL && fd < 0; roots++) {
		const char *rest = below(*roots, path);

		if (rest == NULL)
			continue;
		root = open_root(*roots);
		fd = root < 0 ? -1 : walk_open_below(root, rest);
		code = errno;
		if (root >= 0)
			close(root);
	}
	if (fd < 0)
		return refuse_path(path, code, fault);
	walk_folder(walk, fd, path);
	return ERR_OK;
}

static enum err
search_roots(struct walk *walk, const char *const *roots, struct fault *fault)
{
	unsigned opened = 0;

	for (; *roots != NULL && walk->stopped == NULL; roots++) {
		int fd = open_root(*roots);

		if (fd < 0) {
			walk->skipped++;
			continue;
		}
		opened++;
		walk_folder(walk, fd, *roots);
	}
	if (opened > 0)
		return ERR_OK;
	fault_set(fault, "find_files",
	    "not found: none of the folders that may be searched can be "
	    "opened");
	return ERR_NOT_FOUND;
}

static void
tell_end(struct jsonw *json, const struct walk *walk)
{
	const char *stopped = walk->stopped;

	if (stopped == NULL && walk->too_deep > 0)
		stopped = "depth";
	members_bool(json, "truncated", stopped != NULL);
	members_string(json, "stopped", stopped);
	members_int(json, "entries", (int64_t)walk->entries);
	members_int(json, "skipped", (int64_t)walk->skipped);
}

static enum err
search(struct search *search, struct walk *walk, const struct tool_call *call,
    struct span path, struct answer *answer, struct fault *fault)
{
	const struct tool_settings *settings = call->settings;
	enum err err;

	search->json = answer_object_begin(answer);
	jsonw_key(search->json, "files");
	jsonw_array_begin(search->json);
	err = path.len > 0
	    ? search_path(walk, settings->find_roots, path, fault)
	    : search_roots(walk, settings->find_roots, fault);
	jsonw_array_end(search->json);
	tell_end(search->json, walk);
	answer_object_end(answer);
	return err;
}

enum err
find_files(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	const struct tool_settings *settings;
	struct search state = {.found = 0};
	struct walk walk = {.fits = fits, .found = found, .context = &state};
	struct span query, path;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	settings = call->settings;
	walk.limits.entries = (uint64_t)settings->find_entries;
	walk.limits.depth = (unsigned)settings->find_depth;
	walk.limits.deadline_ms =
	    date_monotonic_ns() / 1000000 + settings->find_ms;
	if (!call_text(call, &query, "query", NULL, QUERY_MAX, fault) ||
	    !call_text(call, &path, "path", "", FS_PATH_MAX - 1, fault) ||
	    !call_int(call, &state.limit, "limit", RESULTS_DEFAULT, 1,
		RESULTS_MAX, fault) ||
	    !call_bool(call, &walk.hidden, "include_hidden", false, fault))
		return ERR_BAD_INPUT;
	/* So that '?' is a character and not a byte. */
	setlocale(LC_CTYPE, "C.UTF-8");
	err = namematch_init(&state.match, query);
	if (err == ERR_OK)
		err = search(&state, &walk, call, path, answer, fault);
	else
		fault_set(fault, "query", "not allowed: the query is empty");
	namematch_fini(&state.match);
	return err;
}
