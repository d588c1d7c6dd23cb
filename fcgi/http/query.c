#include "fcgi/http/query.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/hex.h"
#include "common/utf8.h"
#include "common/word8.h"

/* Bytes that may mean something else, or not be allowed. */
static const bool special[256] = {
    [0 ... 0x1f] = true,
    ['%'] = true,
    ['+'] = true,
    [0x7f ... 0xff] = true,
};

/* True for what is its own decoded form, and as it may be. */
static bool
is_plain(struct span raw)
{
	size_t i = 0;

	for (; raw.len - i >= 8; i += 8) {
		uint64_t word = word8_load(raw.ptr + i);

		if (word8_marked(word8_unprintable(word) |
			word8_equal(word, '%') | word8_equal(word, '+') |
			word8_equal(word, 0x7f)))
			return false;
	}
	for (; i < raw.len; i++)
		if (special[(unsigned char)raw.ptr[i]])
			return false;
	return true;
}

/* Undoes %XX, and '+' where it stands for a blank. What is wrong, or NULL. */
static const char *
decode(struct span *out, struct span raw, bool plus, struct arena *arena)
{
	char *to;
	size_t len = 0;

	*out = raw;
	to = arena_alloc(arena, raw.len + 1);
	if (to == NULL)
		return "is too long";
	for (; raw.len > 0; len++) {
		bool blank = plus && raw.ptr[0] == '+';

		if (!hex_percent(&to[len], &raw))
			return "has a bad %XX escape";
		if (blank)
			to[len] = ' ';
	}
	*out = span_make(to, len);
	return NULL;
}

static const char *
check_text(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
			return text.ptr[i] == '\0'
			    ? "holds a NUL"
			    : "holds a control character";
	return utf8_is_valid(text) ? NULL : "is not UTF-8";
}

/* A path or the parameters behind it, of which pieces are taken. */
struct part {
	struct arena *arena;
	bool plus; /* '+' stands for a blank */
	bool plain; /* no piece needs to be decoded or checked */
};

static const char *
take(struct span *out, struct span raw, const struct part *part)
{
	const char *wrong;

	*out = raw;
	if (part->plain || is_plain(raw))
		return NULL;
	wrong = decode(out, raw, part->plus, part->arena);
	return wrong == NULL ? check_text(*out) : wrong;
}

static enum err
parse_path(struct query *query, struct span path, struct arena *arena,
    struct fault *fault)
{
	struct part part = {arena, .plus = false, .plain = is_plain(path)};
	struct span raw, rest = path;

	if (path.len == 0 || path.ptr[0] != '/') {
		query->no_path = true;
		return ERR_OK;
	}
	rest = span_from(path, 1);
	while (span_cut(&raw, &rest, '/')) {
		const char *wrong;

		if (query->segment_count == QUERY_SEGMENTS_MAX) {
			query->no_path = true;
			return ERR_OK;
		}
		wrong =
		    take(&query->segments[query->segment_count], raw, &part);
		if (wrong != NULL) {
			fault_set(fault, "path", "%s", wrong);
			return ERR_BAD_INPUT;
		}
		if (query->segments[query->segment_count].len == 0)
			query->no_path = true;
		query->segment_count++;
	}
	return ERR_OK;
}

/* The name as a person may be shown it. */
static void
name_fault(struct fault *fault, struct span name, const char *wrong)
{
	char place[64];

	snprintf(place, sizeof(place), "%.*s",
	    name.len > 40 ? 40 : (int)name.len, name.ptr);
	fault_set(fault, utf8_is_valid(span_of(place)) ? place : "parameter",
	    "%s", wrong);
}

static enum err
parse_pairs(struct query *query, struct arena *arena, struct fault *fault)
{
	struct part part = {arena, .plus = true, .plain = is_plain(query->raw)};
	struct span raw, rest = query->raw;

	while (span_cut(&raw, &rest, '&')) {
		struct query_pair *pair = &query->pairs[query->pair_count];
		size_t equals = span_find(raw, '=');
		const char *wrong;

		if (raw.len == 0)
			continue;
		if (query->pair_count == QUERY_PAIRS_MAX) {
			fault_set(fault, "query", "has over %d parameters",
			    QUERY_PAIRS_MAX);
			return ERR_BAD_INPUT;
		}
		wrong = take(&pair->name, span_sub(raw, 0, equals), &part);
		if (wrong == NULL)
			wrong = take(
			    &pair->value, span_from(raw, equals + 1), &part);
		else
			pair->name = SPAN("parameter name");
		if (wrong != NULL) {
			query->bad_pair = true;
			name_fault(fault, pair->name, wrong);
			return ERR_BAD_INPUT;
		}
		query->pair_count++;
	}
	return ERR_OK;
}

enum err
query_parse(struct query *query, struct span uri, struct arena *arena,
    struct fault *fault)
{
	size_t mark = span_find(uri, '?');
	enum err err;

	assert(arena != NULL && (uri.ptr != NULL || uri.len == 0));
	query->segment_count = 0;
	query->pair_count = 0;
	query->no_path = query->bad_pair = false;
	query->raw = span_from(uri, mark + 1);
	if (mark == uri.len)
		query->raw = (struct span){NULL, 0};
	err = parse_path(query, span_sub(uri, 0, mark), arena, fault);
	return err == ERR_OK ? parse_pairs(query, arena, fault) : err;
}
