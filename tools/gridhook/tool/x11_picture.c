/*
 * x11_picture: the root window's pixels, fetched in bands so that no single
 * answer is large, each made into red, green and blue by the visual's masks.
 * Nothing is assumed about byte order, depth or where a colour stands.
 */
#include "tools/gridhook/tool/x11_priv.h"

#include <assert.h>
#include <stdlib.h>

#include <xcb/randr.h>

#define BAND_ROWS 64

struct channel {
	uint32_t mask;
	unsigned shift, max;
};

/* How a pixel is stored. */
struct layout {
	unsigned bytes; /* of one pixel: 1..4 */
	unsigned row_pad; /* bits that a row is rounded up to */
	bool msb_first;
	struct channel channels[3];
};

struct area {
	int16_t x, y;
	uint16_t width, height;
};

static struct channel
channel_of(uint32_t mask)
{
	struct channel channel = {.mask = mask};

	if (mask == 0)
		return channel;
	channel.shift = (unsigned)__builtin_ctz(mask);
	channel.max = mask >> channel.shift;
	return channel;
}

static const xcb_visualtype_t *
root_visual(const xcb_screen_t *screen)
{
	xcb_depth_iterator_t depth = xcb_screen_allowed_depths_iterator(screen);

	for (; depth.rem > 0; xcb_depth_next(&depth)) {
		xcb_visualtype_iterator_t visual =
		    xcb_depth_visuals_iterator(depth.data);

		for (; visual.rem > 0; xcb_visualtype_next(&visual))
			if (visual.data->visual_id == screen->root_visual)
				return visual.data;
	}
	return NULL;
}

static const xcb_format_t *
root_format(struct x11 *x11)
{
	xcb_format_iterator_t format =
	    xcb_setup_pixmap_formats_iterator(xcb_get_setup(x11->server));

	for (; format.rem > 0; xcb_format_next(&format))
		if (format.data->depth == x11->screen->root_depth)
			return format.data;
	return NULL;
}

static enum err
find_layout(struct layout *out, struct x11 *x11, struct fault *fault)
{
	const xcb_visualtype_t *visual = root_visual(x11->screen);
	const xcb_format_t *format = root_format(x11);

	if (visual == NULL || format == NULL ||
	    format->bits_per_pixel % 8 != 0 || format->bits_per_pixel > 32 ||
	    (visual->_class != XCB_VISUAL_CLASS_TRUE_COLOR &&
		visual->_class != XCB_VISUAL_CLASS_DIRECT_COLOR)) {
		fault_set(fault, "DISPLAY",
		    "not supported: a screen of depth %u without true colour",
		    x11->screen->root_depth);
		return ERR_NOT_FOUND;
	}
	*out = (struct layout){
	    .bytes = format->bits_per_pixel / 8u,
	    .row_pad = format->scanline_pad,
	    .msb_first = xcb_get_setup(x11->server)->image_byte_order ==
		XCB_IMAGE_ORDER_MSB_FIRST,
	    .channels = {channel_of(visual->red_mask),
		channel_of(visual->green_mask), channel_of(visual->blue_mask)},
	};
	return ERR_OK;
}

static uint32_t
pixel_at(const struct layout *layout, const uint8_t *bytes)
{
	uint32_t pixel = 0;

	for (unsigned i = 0; i < layout->bytes; i++) {
		unsigned at = layout->msb_first ? layout->bytes - 1 - i : i;

		pixel |= (uint32_t)bytes[at] << (8 * i);
	}
	return pixel;
}

static void
convert_row(uint8_t *rgb, const struct layout *layout, const uint8_t *bytes,
    unsigned width)
{
	for (unsigned x = 0; x < width; x++, bytes += layout->bytes) {
		uint32_t pixel = pixel_at(layout, bytes);

		for (unsigned i = 0; i < 3; i++) {
			const struct channel *channel = &layout->channels[i];
			uint64_t value =
			    (pixel & channel->mask) >> channel->shift;

			*rgb++ = channel->max == 0
			    ? 0
			    : (uint8_t)((value * 255 + channel->max / 2) /
				  channel->max);
		}
	}
}

/* Rows `top` .. of the area, as many as one band holds. */
static enum err
fetch_band(struct x11 *x11, const struct layout *layout,
    const struct area *area, unsigned top, const struct picture *out,
    struct fault *fault)
{
	unsigned rows = out->height - top, i;
	size_t bits = (size_t)out->width * layout->bytes * 8;
	size_t stride = (bits + layout->row_pad - 1) / layout->row_pad *
	    layout->row_pad / 8;
	xcb_get_image_reply_t *reply;
	size_t len;

	if (rows > BAND_ROWS)
		rows = BAND_ROWS;
	reply = xcb_get_image_reply(x11->server,
	    xcb_get_image(x11->server, XCB_IMAGE_FORMAT_Z_PIXMAP,
		x11->screen->root, area->x, (int16_t)(area->y + (int)top),
		area->width, (uint16_t)rows, ~0u),
	    NULL);
	if (reply == NULL)
		return x11_lost(x11, fault);
	len = (size_t)xcb_get_image_data_length(reply);
	for (i = 0; i < rows && (i + 1) * stride <= len; i++)
		convert_row(picture_at(out, 0, top + i), layout,
		    xcb_get_image_data(reply) + i * stride, out->width);
	free(reply);
	if (i == rows)
		return ERR_OK;
	fault_set(fault, "DISPLAY",
	    "the desktop refused: the X server cut the picture short");
	return ERR_DENIED;
}

/* The screen as large as it is now; the setup block may be out of date. */
static enum err
whole_screen(struct area *out, struct x11 *x11, struct fault *fault)
{
	xcb_get_geometry_reply_t *reply = xcb_get_geometry_reply(x11->server,
	    xcb_get_geometry(x11->server, x11->screen->root), NULL);

	if (reply == NULL)
		return x11_lost(x11, fault);
	*out = (struct area){.width = reply->width, .height = reply->height};
	free(reply);
	return ERR_OK;
}

static bool
has_randr(struct x11 *x11)
{
	const xcb_query_extension_reply_t *found =
	    xcb_get_extension_data(x11->server, &xcb_randr_id);
	xcb_randr_query_version_reply_t *version;
	bool enough;

	if (found == NULL || !found->present)
		return false;
	version = xcb_randr_query_version_reply(
	    x11->server, xcb_randr_query_version(x11->server, 1, 5), NULL);
	enough = version != NULL &&
	    (version->major_version > 1 || version->minor_version >= 5);
	free(version);
	return enough;
}

/* Monitor `wanted` counting the primary one first; false when there is none. */
static bool
pick_monitor(struct area *out, const xcb_randr_get_monitors_reply_t *reply,
    int64_t wanted)
{
	for (int pass = 0; pass < 2; pass++) {
		xcb_randr_monitor_info_iterator_t at =
		    xcb_randr_get_monitors_monitors_iterator(reply);

		for (; at.rem > 0; xcb_randr_monitor_info_next(&at))
			if ((at.data->primary != 0) == (pass == 0) &&
			    wanted-- == 0) {
				*out = (struct area){at.data->x, at.data->y,
				    at.data->width, at.data->height};
				return true;
			}
	}
	return false;
}

static enum err
one_monitor(
    struct area *out, struct x11 *x11, int64_t wanted, struct fault *fault)
{
	xcb_randr_get_monitors_reply_t *reply;
	bool found;

	if (!has_randr(x11)) {
		fault_set(fault, "monitor",
		    "not supported: this X server does not tell its monitors");
		return ERR_NOT_FOUND;
	}
	reply = xcb_randr_get_monitors_reply(x11->server,
	    xcb_randr_get_monitors(x11->server, x11->screen->root, 1), NULL);
	if (reply == NULL)
		return x11_lost(x11, fault);
	found = pick_monitor(out, reply, wanted);
	if (!found)
		fault_set(fault, "monitor",
		    "not found: monitor %d; there are %u, counted from 0",
		    (int)wanted, reply->nMonitors);
	free(reply);
	return found ? ERR_OK : ERR_NOT_FOUND;
}

enum err
x11_picture(
    struct x11 *x11, int64_t monitor, struct picture *out, struct fault *fault)
{
	struct layout layout;
	struct area area = {.width = 0};
	enum err err;

	assert(monitor >= X11_ALL_MONITORS);
	*out = (struct picture){.rgb = NULL};
	err = find_layout(&layout, x11, fault);
	if (err != ERR_OK)
		return err;
	err = monitor == X11_ALL_MONITORS
	    ? whole_screen(&area, x11, fault)
	    : one_monitor(&area, x11, monitor, fault);
	if (err == ERR_OK)
		err = picture_make(out, area.width, area.height, fault);
	for (unsigned top = 0; err == ERR_OK && top < area.height;
	     top += BAND_ROWS)
		err = fetch_band(x11, &layout, &area, top, out, fault);
	if (err != ERR_OK)
		picture_fini(out);
	return err;
}
