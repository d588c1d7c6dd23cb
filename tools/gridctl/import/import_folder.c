/* Checks the names of the files in an import's folder. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/count.h"
#include "common/fs.h"
#include "tools/gridctl/csv/csv_unpack.h"
#include "tools/gridctl/import/import_priv.h"

/* Packings that no import reads. */
static const char *const packings[] = {
    ".bz2", ".xz", ".lz4", ".zip", ".Z", ".7z", NULL};

#define NAME_SIZE 32 /* of a known file, with its ending */

struct looking {
	struct import *import;
	void (*ignored)(const char *name);
	bool known[IMPORT_FILES];
	char as[IMPORT_FILES][NAME_SIZE]; /* the name that it has there */
};

static void
keep_name(char kept[NAME_SIZE], const char *name)
{
	size_t len = strlen(name);

	assert(len < NAME_SIZE);
	memcpy(kept, name, len + 1);
}

/* The ending that `rest` is, of a packed file that is read; NULL: another. */
static const char *
read_ending(const char *rest, bool any_case)
{
	const char *ending;

	for (unsigned i = 0; (ending = csv_unpack_ending(i)) != NULL; i++)
		if ((any_case ? strcasecmp : strcmp)(rest, ending) == 0)
			return ending;
	return NULL;
}

static bool
is_folder(const char *dir, const char *name)
{
	char path[FS_PATH_MAX];
	struct stat found;

	return fs_path(path, "%s/%s", dir, name) == ERR_OK &&
	    stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* The file that `name` begins with, in whatever case; IMPORT_FILES: none. */
static enum import_file
meant(const char *name, const char **rest)
{
	for (unsigned i = 0; i < IMPORT_FILES; i++) {
		size_t len = strlen(import_rows[i].name);

		*rest = name + len;
		if (strncasecmp(name, import_rows[i].name, len) == 0)
			return i;
	}
	*rest = name;
	return IMPORT_FILES;
}

static bool
is_packing(const char *rest)
{
	for (unsigned i = 0; packings[i] != NULL; i++)
		if (strcasecmp(rest, packings[i]) == 0)
			return true;
	return false;
}

static void
refuse(struct import *import, const char *name, const char *what)
{
	csv_faults_add(&import->faults[0], name, 0, NULL, "%s", what);
}

static void
look_at(struct looking *looking, const char *name)
{
	struct import *import = looking->import;
	const char *rest;
	enum import_file file = meant(name, &rest);
	bool is_name = file < IMPORT_FILES &&
	    strncmp(name, import_rows[file].name, rest - name) == 0;

	if (is_name && (*rest == '\0' || read_ending(rest, false) != NULL)) {
		if (looking->known[file])
			csv_faults_add(&import->faults[0], name, 0, NULL,
			    "is there, and so is %s: one of them must go",
			    looking->as[file]);
		else
			keep_name(looking->as[file], name);
		looking->known[file] = true;
	} else if (file < IMPORT_FILES && is_packing(rest))
		refuse(import, name,
		    "is packed in a way that is not read: unpack it, or pack "
		    "it by gzip or zstd");
	else if (is_folder(import->dir, name))
		return;
	else if (looking->ignored != NULL)
		looking->ignored(name);
	else if (file < IMPORT_FILES && (*rest == '\0' || *rest == '.'))
		csv_faults_add(&import->faults[0], name, 0, NULL,
		    "is no file of an import; is %s%s meant? Rename it, or "
		    "give --ignore-unknown",
		    import_rows[file].name,
		    read_ending(rest, true) == NULL ? ""
						    : read_ending(rest, true));
	else
		refuse(import, name,
		    "is no file of an import: take it out, or give "
		    "--ignore-unknown");
}

enum err
import_check_folder(struct import *import, void (*ignored)(const char *name))
{
	struct looking looking = {.import = import, .ignored = ignored};
	struct dirent **entries;
	int count = scandir(import->dir, &entries, NULL, alphasort);

	assert(import->networks != NULL);
	/*
	 * A folder that may be entered but not listed is fine: its known files
	 * can be read.
	 */
	if (count < 0)
		return ERR_OK;
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			look_at(&looking, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return import->faults[0].count > 0 ? ERR_BAD_INPUT : ERR_OK;
}

static const char *
why_no_files(const char *dir)
{
	struct stat found;

	if (stat(dir, &found) != 0)
		return errno == ENOENT ? "no such folder"
				       : err_text(err_from_errno(errno));
	return S_ISDIR(found.st_mode)
	    ? "has none of the CSV files of an import: 'gridctl import --help' "
	      "lists them"
	    : "is no folder: name the folder with the CSV files";
}

/* False: the folder is not there, or has no such file, which is a fault. */
static bool
has_files(struct import *import)
{
	for (unsigned i = 0; i < IMPORT_FILES; i++)
		if (import_has(import, i))
			return true;
	csv_faults_add(&import->faults[0], import->dir, 0, NULL, "%s",
	    why_no_files(import->dir));
	return false;
}

/* False: it lacks a file that is needed, which is a fault for each. */
static bool
has_needed(struct import *import)
{
	static const enum import_file needed[] = {
	    IMPORT_SUPPLIERS, IMPORT_ARTICLES};
	bool all = true;

	for (unsigned i = 0; i < COUNT(needed); i++)
		if (!import_has(import, needed[i])) {
			csv_faults_add(&import->faults[needed[i]],
			    import_file_name(needed[i]), 0, NULL,
			    "is not in %s; only --merge goes without it",
			    import->dir);
			import->partial[needed[i]] = true;
			all = false;
		}
	return all;
}

enum err
import_check_files(
    struct import *import, bool merge, void (*ignored)(const char *name))
{
	bool any, whole;

	assert(import != NULL);
	any = has_files(import);
	whole = any && import_check_folder(import, ignored) == ERR_OK;
	/* Any of those that are not known may be one that is not there. */
	for (unsigned i = 0; i < IMPORT_FILES && !whole; i++)
		import->partial[i] = !import_has(import, i);
	if (any && !merge && !has_needed(import))
		whole = false;
	return whole ? ERR_OK : ERR_BAD_INPUT;
}
