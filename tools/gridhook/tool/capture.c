/*
 * capture_screen: from the X server, from a wlroots compositor by grim, or
 * from the desktop portal, in the order that fits the session.
 */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdlib.h>

#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/picture.h"
#include "tools/gridhook/tool/portal.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/x11.h"

#define EDGE_MAX 4096
#define EDGE_DEFAULT 1568
#define PNG_IN_MAX (256u * 1024 * 1024)
#define IMAGE_MAX (8u * 1024 * 1024)
#define GRIM_MS 5000
#define PORTAL_MS 10000
#define OUTPUTS_MAX (1024 * 1024)

static enum err
from_x11(int64_t monitor, struct picture *out, struct fault *fault)
{
	struct x11 *x11;
	enum err err;

	err = x11_open(&x11, fault);
	if (err == ERR_OK)
		err = x11_picture(x11, monitor, out, fault);
	x11_close(x11);
	return err;
}

/* The name of the n-th output, as sway lists them; the caller's to free(). */
static char *
output_name(struct span json, int64_t monitor)
{
	static const struct jsonr_limits limits = {.bytes = OUTPUTS_MAX};
	struct jsonr *doc = NULL;
	struct fault quiet;
	char *name = NULL;

	fault_clear(&quiet);
	if (jsonr_parse(&doc, json, &limits, &quiet) == ERR_OK) {
		const struct jsonr_value *output =
		    jsonr_at(jsonr_root(doc), (size_t)monitor);
		struct span text =
		    jsonr_as_string(jsonr_member(output, "name"));

		if (text.len > 0)
			name = span_dup(text);
	}
	jsonr_free(doc);
	return name;
}

/* grim wants an output's name; among compositors sway tells them. */
static enum err
find_output(char **out, int64_t monitor, struct fault *fault)
{
	static const char *const argv[] = {
	    "swaymsg", "-r", "-t", "get_outputs", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = 2000};
	struct fault quiet;
	struct buf json;
	int status;

	*out = NULL;
	fault_clear(&quiet);
	buf_init(&json, OUTPUTS_MAX);
	if (child_run(&spec, &json, &status, &quiet) == ERR_OK && status == 0)
		*out = output_name(buf_span(&json), monitor);
	buf_fini(&json);
	if (*out != NULL)
		return ERR_OK;
	fault_set(fault, "monitor",
	    "not found: monitor %d, as far as this compositor tells its "
	    "outputs; leave monitor out to capture all of them",
	    (int)monitor);
	return ERR_NOT_FOUND;
}

static enum err
run_grim(const char *output, struct buf *png, struct fault *fault)
{
	const char *argv[] = {
	    "grim", "-t", "png", "-l", "1", "-", NULL, NULL, NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = GRIM_MS};
	int status;
	enum err err;

	if (output != NULL) {
		argv[5] = "-o";
		argv[6] = output;
		argv[7] = "-";
	}
	err = child_run(&spec, png, &status, fault);
	if (err == ERR_OK && status != 0) {
		fault_set(fault, "grim",
		    "the desktop refused: grim ended with status %d (is the "
		    "compositor running, and does it offer screen copying?)",
		    status);
		err = ERR_DENIED;
	}
	return err;
}

static enum err
from_grim(int64_t monitor, struct buf *png, struct fault *fault)
{
	char *output = NULL;
	enum err err = ERR_OK;

	if (monitor != X11_ALL_MONITORS)
		err = find_output(&output, monitor, fault);
	if (err == ERR_OK)
		err = run_grim(output, png, fault);
	free(output);
	return err;
}

/* The portal asks for the whole screen and nothing less. */
static enum err
from_portal(int64_t monitor, struct buf *png, struct fault *fault)
{
	if (monitor != X11_ALL_MONITORS) {
		fault_set(fault, "monitor",
		    "not supported: the desktop portal captures all monitors; "
		    "leave monitor out");
		return ERR_NOT_FOUND;
	}
	return portal_screenshot(png, PORTAL_MS, fault);
}

static enum err
read_png(struct buf *png, struct picture *out, struct fault *fault)
{
	return picture_read_png(out, buf_span(png), fault);
}

/* A portal that said no, or nothing, is the reason; one that is not there, not.
 */
static enum err
both_failed(const struct fault *first, const struct fault *second, enum err err,
    struct fault *fault)
{
	if (err == ERR_DENIED || err == ERR_TIMED_OUT)
		*fault = *second;
	fault_set(fault, "capture_screen", "%s; and the portal: %s",
	    first->message, second->message);
	return err;
}

/* By the session's own way, and where that fails by the portal. */
static enum err
take(int64_t monitor, enum session_kind kind, struct picture *out,
    struct fault *fault)
{
	struct fault first, second;
	struct buf png;
	enum err err;

	fault_clear(&first);
	fault_clear(&second);
	buf_init(&png, PNG_IN_MAX);
	if (kind == SESSION_X11)
		err = from_x11(monitor, out, &first);
	else {
		err = from_grim(monitor, &png, &first);
		if (err == ERR_OK)
			err = read_png(&png, out, &first);
	}
	if (err != ERR_OK) {
		buf_clear(&png);
		err = from_portal(monitor, &png, &second);
		if (err == ERR_OK)
			err = read_png(&png, out, &second);
		if (err != ERR_OK)
			err = both_failed(&first, &second, err, fault);
	}
	buf_fini(&png);
	return err;
}

static enum err
encode(const struct picture *picture, bool jpeg, struct answer *answer,
    struct fault *fault)
{
	struct buf image;
	enum err err;

	buf_init(&image, PNG_IN_MAX);
	err = jpeg ? picture_write_jpeg(picture, &image, fault)
		   : picture_write_png(picture, &image, fault);
	if (err == ERR_OK && image.len > IMAGE_MAX) {
		fault_set(fault, "capture_screen",
		    "not allowed: the image takes %zu bytes, more than %u; "
		    "ask for a smaller max_edge, or for jpeg",
		    image.len, IMAGE_MAX);
		err = ERR_TOO_LARGE;
	}
	if (err == ERR_OK)
		answer_image(answer, buf_span(&image),
		    jpeg ? "image/jpeg" : "image/png");
	buf_fini(&image);
	return err;
}

enum err
capture_screen(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	enum session_kind kind = session_find(call->settings);
	struct picture picture = {.rgb = NULL};
	int64_t monitor, edge;
	struct span format;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	if (!call_int(
		call, &monitor, "monitor", X11_ALL_MONITORS, 0, 15, fault) ||
	    !call_int(
		call, &edge, "max_edge", EDGE_DEFAULT, 64, EDGE_MAX, fault) ||
	    !call_text(call, &format, "format", "png", 8, fault))
		return ERR_BAD_INPUT;
	if (!span_eq(format, SPAN("png")) && !span_eq(format, SPAN("jpeg"))) {
		fault_set(
		    fault, "format", "not allowed: format is png or jpeg");
		return ERR_BAD_INPUT;
	}
	if (kind == SESSION_NONE)
		return session_none(fault);
	err = take(monitor, kind, &picture, fault);
	if (err == ERR_OK) {
		picture_shrink(&picture, (unsigned)edge);
		err = encode(
		    &picture, span_eq(format, SPAN("jpeg")), answer, fault);
	}
	picture_fini(&picture);
	return err;
}
