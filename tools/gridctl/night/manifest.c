#include "tools/gridctl/night/manifest.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/hex.h"

static enum err
wrong(struct fault *fault, unsigned line, const char *why)
{
	char place[64];

	snprintf(place, sizeof(place), "manifest:%u", line);
	fault_set(fault, place, "%s", why);
	return ERR_BAD_INPUT;
}

/* Without blanks and line ends at both ends. */
static struct span
trim(struct span text)
{
	static const char blanks[] = " \t\r\n";

	while (text.len > 0 && memchr(blanks, text.ptr[0], 4) != NULL)
		text = span_from(text, 1);
	while (
	    text.len > 0 && memchr(blanks, text.ptr[text.len - 1], 4) != NULL)
		text.len--;
	return text;
}

static bool
read_size(uint64_t *bytes, struct span text)
{
	*bytes = 0;
	if (text.len == 0 || text.len > 18)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
		*bytes = *bytes * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	return true;
}

static bool
read_name(char name[MANIFEST_NAME_MAX + 1], struct span text)
{
	return text.len > 0 && text.ptr[0] != '.' &&
	    span_find(text, '/') == text.len &&
	    span_find(text, '\0') == text.len &&
	    span_copy(name, MANIFEST_NAME_MAX + 1, text);
}

/* SIZE DIGEST NAME, with blanks between; the name may have blanks itself. */
static bool
read_file(struct manifest_file *file, struct span line)
{
	struct span size, digest;

	if (!span_cut(&size, &line, ' ') || !read_size(&file->bytes, size))
		return false;
	line = trim(line);
	return span_cut(&digest, &line, ' ') &&
	    digest.len == 2 * DIGEST_SHA256_LEN &&
	    hex_bytes(file->digest, DIGEST_SHA256_LEN, digest) &&
	    read_name(file->name, trim(line));
}

static enum err
read_line(struct manifest *out, struct span line, unsigned number,
    struct fault *fault)
{
	struct manifest_file *file = &out->files[out->count];

	if (out->count == MANIFEST_FILES_MAX)
		return wrong(fault, number, "names too many files");
	if (!read_file(file, line))
		return wrong(fault, number,
		    "is no line of size, SHA-256 in hex, and name: "
		    "'1234 0f…9a articles.csv'");
	if (manifest_find(out, file->name) != NULL)
		return wrong(fault, number, "names a file again");
	out->count++;
	return ERR_OK;
}

enum err
manifest_read(struct manifest *out, struct span text, struct fault *fault)
{
	struct span line, rest = text;
	unsigned number = 0;
	enum err err = ERR_OK;

	assert(out != NULL);
	memset(out, 0, sizeof(*out));
	while (err == ERR_OK && span_cut(&line, &rest, '\n')) {
		line = trim(line);
		number++;
		if (line.len == 0)
			continue;
		if (number == 1 && !span_eq(line, SPAN("import whole")) &&
		    !span_eq(line, SPAN("import merge")))
			return wrong(fault, 1,
			    "must be 'import whole' or 'import merge'");
		if (number == 1)
			out->merge = span_eq(line, SPAN("import merge"));
		else if (span_eq(line, SPAN("end")))
			return trim(rest).len == 0
			    ? ERR_OK
			    : wrong(fault, number + 1, "stands behind 'end'");
		else
			err = read_line(out, line, number, fault);
	}
	return err != ERR_OK
	    ? err
	    : wrong(fault, number, "is cut short: the last line is 'end'");
}

enum err
manifest_mode(bool *merge, struct span text, struct fault *fault)
{
	text = trim(text);
	*merge = span_eq(text, SPAN("merge"));
	if (*merge || text.len == 0 || span_eq(text, SPAN("whole")))
		return ERR_OK;
	fault_set(fault, ".done", "must be empty, or say 'whole' or 'merge'");
	return ERR_BAD_INPUT;
}

const struct manifest_file *
manifest_find(const struct manifest *manifest, const char *name)
{
	for (unsigned i = 0; i < manifest->count; i++)
		if (strcmp(manifest->files[i].name, name) == 0)
			return &manifest->files[i];
	return NULL;
}
