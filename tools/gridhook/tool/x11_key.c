#include "tools/gridhook/tool/x11_priv.h"

#include <assert.h>
#include <stdlib.h>

#include <xcb/xtest.h>

/* The code of the key with that symbol, or 0. */
static enum err
find_key(
    xcb_keycode_t *out, struct x11 *x11, uint32_t symbol, struct fault *fault)
{
	const xcb_setup_t *setup = xcb_get_setup(x11->server);
	unsigned first = setup->min_keycode;
	unsigned count = setup->max_keycode - first + 1u;
	xcb_get_keyboard_mapping_reply_t *reply;
	const xcb_keysym_t *symbols;

	*out = 0;
	reply = xcb_get_keyboard_mapping_reply(x11->server,
	    xcb_get_keyboard_mapping(
		x11->server, (xcb_keycode_t)first, (uint8_t)count),
	    NULL);
	if (reply == NULL)
		return x11_lost(x11, fault);
	symbols = xcb_get_keyboard_mapping_keysyms(reply);
	/* The first column only: the others want a modifier held. */
	for (unsigned i = 0; i < count && *out == 0; i++)
		if (symbols[i * reply->keysyms_per_keycode] == symbol)
			*out = (xcb_keycode_t)(first + i);
	free(reply);
	if (*out != 0)
		return ERR_OK;
	fault_set(fault, "key",
	    "not found: the keyboard of this X server has no such key");
	return ERR_NOT_FOUND;
}

static bool
fake(struct x11 *x11, uint8_t type, xcb_keycode_t code)
{
	xcb_generic_error_t *error = xcb_request_check(x11->server,
	    xcb_test_fake_input_checked(
		x11->server, type, code, XCB_CURRENT_TIME, XCB_NONE, 0, 0, 0));
	bool done = error == NULL;

	free(error);
	return done;
}

enum err
x11_key(
    struct x11 *x11, uint32_t symbol, enum x11_ear *ear, struct fault *fault)
{
	const xcb_query_extension_reply_t *found =
	    xcb_get_extension_data(x11->server, &xcb_test_id);
	xcb_keycode_t code;
	enum err err;

	assert(ear != NULL);
	if (found == NULL || !found->present) {
		fault_set(fault, "key",
		    "not supported: this X server has no XTEST extension");
		return ERR_NOT_FOUND;
	}
	err = find_key(&code, x11, symbol, fault);
	if (err != ERR_OK)
		return err;
	*ear = x11_ear(x11, code);
	if (*ear == X11_EAR_NONE) {
		fault_set(fault, "key",
		    "not found: nobody would hear it, for no program has "
		    "grabbed that key and no window has the focus");
		return ERR_NOT_FOUND;
	}
	if (fake(x11, XCB_KEY_PRESS, code) && fake(x11, XCB_KEY_RELEASE, code))
		return ERR_OK;
	return x11_lost(x11, fault);
}
