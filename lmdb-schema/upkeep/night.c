#include "lmdb-schema/upkeep/night.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/jsonr.h"
#include "common/members.h"

#define VERSION 1
#define FILE_MAX (4u << 20)
#define TRIES_MAX 1000

static const char *const kinds[NIGHT_KINDS] = {
    [NIGHT_TAKE] = "take",
    [NIGHT_CHECK] = "check",
    [NIGHT_IMPORT] = "import",
    [NIGHT_COMPUTE] = "compute",
    [NIGHT_INDEX] = "index",
    [NIGHT_PACK] = "pack",
    [NIGHT_EXPORT] = "export",
    [NIGHT_BACKUP] = "backup",
    [NIGHT_SEND] = "send",
    [NIGHT_PRUNE] = "prune",
    [NIGHT_REPORT] = "report",
};

static const char *const states[NIGHT_STATES] = {
    [NIGHT_WAITING] = "waiting",
    [NIGHT_RUNNING] = "running",
    [NIGHT_DONE] = "done",
    [NIGHT_FAILED] = "failed",
    [NIGHT_SKIPPED] = "skipped",
};

const char *
night_kind_name(enum night_kind kind)
{
	assert(kind < NIGHT_KINDS);
	return kinds[kind];
}

const char *
night_state_name(enum night_state state)
{
	assert(state < NIGHT_STATES);
	return states[state];
}

struct night *
night_new(void)
{
	struct night *night = calloc(1, sizeof(*night));

	if (night != NULL)
		night->began_ms = date_now_ms();
	return night;
}

struct night_step *
night_add(struct night *night, enum night_kind kind, const char *delivery)
{
	struct night_step *step = &night->steps[night->count];

	if (night->count == NIGHT_STEPS_MAX ||
	    !span_copy(
		step->delivery, sizeof(step->delivery), span_of(delivery)))
		return NULL;
	step->kind = kind;
	night->count++;
	return step;
}

bool
night_failed(const struct night *night)
{
	for (unsigned i = 0; i < night->count; i++)
		if (night->steps[i].state == NIGHT_FAILED)
			return true;
	return false;
}

/* --- writing --------------------------------------------------------------- */

static void
add_step(struct jsonw *json, const struct night_step *step)
{
	jsonw_object_begin(json);
	members_string(json, "step", kinds[step->kind]);
	members_string(json, "delivery", step->delivery);
	members_string(json, "state", states[step->state]);
	members_time(json, "began", step->began_ms);
	members_time(json, "ended", step->ended_ms);
	members_int(json, "rows", (int64_t)step->rows);
	members_int(json, "tries", step->tries);
	members_string(json, "said", step->said);
	jsonw_object_end(json);
}

void
night_json(struct jsonw *json, const struct night *night)
{
	jsonw_object_begin(json);
	members_int(json, "version", VERSION);
	members_time(json, "began", night->began_ms);
	members_time(json, "ended", night->ended_ms);
	jsonw_key(json, "steps");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < night->count; i++)
		add_step(json, &night->steps[i]);
	jsonw_array_end(json);
	jsonw_object_end(json);
}

enum err
night_write(const struct night *night, const char *data_dir)
{
	char path[FS_PATH_MAX];
	struct jsonw json;
	struct buf text;
	enum err err = fs_path(path, "%s/night.json", data_dir);

	buf_init(&text, FILE_MAX);
	jsonw_init(&json, &text);
	night_json(&json, night);
	buf_add_char(&text, '\n');
	if (err == ERR_OK)
		err = buf_end(&text);
	if (err == ERR_OK)
		err = fs_replace(path, buf_span(&text), 0640);
	buf_fini(&text);
	return err;
}

/* --- reading --------------------------------------------------------------- */

static bool
read_name(unsigned *number, const struct jsonr_value *value,
    const char *const *names, unsigned count)
{
	struct span name = jsonr_as_string(value);

	for (*number = 0; *number < count; (*number)++)
		if (span_eq(name, span_of(names[*number])))
			return true;
	return false;
}

/* null is 0. */
static bool
read_time(int64_t *ms, const struct jsonr_value *value)
{
	*ms = 0;
	return jsonr_type(value) == JSONR_NULL ||
	    date_instant(ms, jsonr_as_string(value));
}

static bool
read_count(int64_t *count, const struct jsonr_value *value, int64_t max)
{
	*count = jsonr_as_int(value);
	return jsonr_type(value) == JSONR_INT && *count >= 0 && *count <= max;
}

static bool
read_step(struct night *night, const struct jsonr_value *value)
{
	struct night_step *step = &night->steps[night->count];
	unsigned kind, state;
	int64_t rows, tries;

	if (!read_name(
		&kind, jsonr_member(value, "step"), kinds, NIGHT_KINDS) ||
	    !read_name(
		&state, jsonr_member(value, "state"), states, NIGHT_STATES) ||
	    !read_time(&step->began_ms, jsonr_member(value, "began")) ||
	    !read_time(&step->ended_ms, jsonr_member(value, "ended")) ||
	    !read_count(&rows, jsonr_member(value, "rows"), INT64_MAX) ||
	    !read_count(&tries, jsonr_member(value, "tries"), TRIES_MAX) ||
	    !span_copy(step->delivery, sizeof(step->delivery),
		jsonr_as_string(jsonr_member(value, "delivery"))) ||
	    !span_copy(step->said, sizeof(step->said),
		jsonr_as_string(jsonr_member(value, "said"))))
		return false;
	step->kind = (enum night_kind)kind;
	step->state = (enum night_state)state;
	step->rows = (uint64_t)rows;
	step->tries = (unsigned)tries;
	night->count++;
	return true;
}

static bool
read_night(struct night *night, const struct jsonr_value *root)
{
	const struct jsonr_value *steps = jsonr_member(root, "steps");
	size_t count = jsonr_count(steps);

	if (jsonr_as_int(jsonr_member(root, "version")) != VERSION ||
	    !read_time(&night->began_ms, jsonr_member(root, "began")) ||
	    !read_time(&night->ended_ms, jsonr_member(root, "ended")) ||
	    jsonr_type(steps) != JSONR_ARRAY || count > NIGHT_STEPS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!read_step(night, jsonr_at(steps, i)))
			return false;
	return true;
}

static enum err
parse(struct night **out, struct span text)
{
	static const struct jsonr_limits limits = {
	    .bytes = FILE_MAX, .depth = 8, .issues = 1};
	struct night *night = calloc(1, sizeof(*night));
	struct jsonr *doc = NULL;
	struct fault fault;
	enum err err = night == NULL ? ERR_NO_MEMORY
				     : jsonr_parse(&doc, text, &limits, &fault);

	if (err == ERR_BAD_INPUT || err == ERR_TOO_LARGE)
		err = ERR_DAMAGED;
	if (err == ERR_OK && !read_night(night, jsonr_root(doc)))
		err = ERR_DAMAGED;
	jsonr_free(doc);
	if (err == ERR_OK)
		*out = night;
	else
		free(night);
	return err;
}

enum err
night_read(struct night **out, const char *data_dir)
{
	char path[FS_PATH_MAX];
	struct buf text;
	enum err err = fs_path(path, "%s/night.json", data_dir);

	*out = NULL;
	buf_init(&text, FILE_MAX);
	if (err == ERR_OK)
		err = fs_read(&text, path);
	if (err == ERR_OK)
		err = parse(out, buf_span(&text));
	buf_fini(&text);
	return err == ERR_TOO_LARGE ? ERR_DAMAGED : err;
}
