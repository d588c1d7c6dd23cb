#include "tools/gridhook/tool/mpris.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/span.h"
#include "tools/gridhook/tool/bus.h"

#define PREFIX "org.mpris.MediaPlayer2."
#define PATH "/org/mpris/MediaPlayer2"
#define INTERFACE "org.mpris.MediaPlayer2.Player"
#define PLAYERS_MAX 16 /* each may cost a time limit */

struct mpris {
	struct bus *bus;
	char name[MPRIS_NAME_MAX];
};

static const struct bus_peer bus_itself = {
    "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"};

static struct bus_peer
player(const char *name)
{
	return (struct bus_peer){name, PATH, INTERFACE};
}

/* 3 plays, 2 is paused, 1 is there, 0 does not answer. */
static int
rank_of(struct bus *bus, const char *name)
{
	struct bus_peer peer = player(name);
	struct bus_message *value = NULL;
	const char *status = "";
	struct fault quiet;
	int rank = 0;

	fault_clear(&quiet);
	if (bus_property(bus, &peer, "PlaybackStatus", "s", &value, &quiet) ==
		ERR_OK &&
	    bus_read(value, "s", &status)) {
		rank = 1;
		if (strcmp(status, "Paused") == 0)
			rank = 2;
		else if (strcmp(status, "Playing") == 0)
			rank = 3;
	}
	bus_message_free(value);
	return rank;
}

static enum err
choose(struct mpris *mpris, struct fault *fault)
{
	struct bus_message *names = NULL;
	unsigned seen = 0;
	const char *name;
	int best = 0;
	enum err err;

	err =
	    bus_call(mpris->bus, &bus_itself, "ListNames", &names, fault, NULL);
	if (err == ERR_OK && !bus_enter_array(names, "s"))
		err = ERR_BAD_INPUT;
	while (err == ERR_OK && best < 3 && seen < PLAYERS_MAX &&
	    bus_read(names, "s", &name)) {
		int rank;

		if (!span_starts(span_of(name), SPAN(PREFIX)))
			continue;
		seen++;
		rank = rank_of(mpris->bus, name);
		if (rank > best &&
		    span_copy(mpris->name, sizeof(mpris->name), span_of(name)))
			best = rank;
	}
	bus_message_free(names);
	if (err == ERR_OK && best == 0) {
		fault_set(fault, "media_key",
		    "no media player: none that speaks MPRIS is running");
		err = ERR_NOT_FOUND;
	}
	return err;
}

enum err
mpris_open(struct mpris **out, struct fault *fault)
{
	struct mpris *mpris = calloc(1, sizeof(*mpris));
	enum err err;

	*out = NULL;
	if (mpris == NULL)
		return ERR_NO_MEMORY;
	err = bus_open(&mpris->bus, BUS_SESSION, fault);
	if (err == ERR_OK)
		err = choose(mpris, fault);
	if (err == ERR_OK)
		*out = mpris;
	else
		mpris_close(mpris);
	return err;
}

void
mpris_close(struct mpris *mpris)
{
	if (mpris == NULL)
		return;
	bus_close(mpris->bus);
	free(mpris);
}

const char *
mpris_player(const struct mpris *mpris)
{
	return mpris->name + strlen(PREFIX);
}

enum err
mpris_tell(struct mpris *mpris, const char *method, struct fault *fault)
{
	struct bus_peer peer = player(mpris->name);

	assert(method != NULL);
	return bus_call(mpris->bus, &peer, method, NULL, fault, NULL);
}
