#include "tools/gridhud/voice/speaker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "tools/gridhud/child.h"
#include "tools/gridhud/text.h"
#include "tools/gridhud/voice/ssip.h"
#include "tools/gridhud/voice/wav.h"

#define SYNTH_MS 30000
#define PLAY_EXTRA_MS 10000 /* beyond the sound's own length */
#define DISPATCH_MS 120000
#define TEXT_BYTES 20000
#define COMMAND_MAX 1024

/* Tried in turn, until one plays. */
static const char *const players[] = {"pw-play", "paplay", "aplay -q"};

#define PLAYERS (sizeof(players) / sizeof(players[0]))

enum stage { RESTING, SYNTHESIS, PLAYING, DISPATCHING };

struct speaker {
	enum stage stage;
	pid_t pid;
	int64_t deadline_ms;
	bool stopped, late;
	size_t player; /* the one that worked last */
	size_t tried; /* players that failed for this sound */
	char wav[FS_PATH_MAX]; /* "" when there is none */
};

enum err
speaker_new(struct speaker **out)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ERR_NO_MEMORY : ERR_OK;
}

static void
remove_wav(struct speaker *speaker)
{
	if (speaker->wav[0] != '\0')
		fs_unlink(speaker->wav);
	speaker->wav[0] = '\0';
}

void
speaker_free(struct speaker *speaker)
{
	int code;

	if (speaker == NULL)
		return;
	if (speaker->stage != RESTING) {
		child_kill(speaker->pid);
		while (!child_ended(speaker->pid, &code))
			usleep(1000);
	}
	remove_wav(speaker);
	free(speaker);
}

bool
speaker_is_busy(const struct speaker *speaker)
{
	return speaker->stage != RESTING;
}

int64_t
speaker_due_ms(const struct speaker *speaker)
{
	return speaker->stage == RESTING ? -1 : speaker->deadline_ms;
}

void
speaker_stop(struct speaker *speaker)
{
	if (speaker->stage == RESTING)
		return;
	speaker->stopped = true;
	child_kill(speaker->pid);
}

/* --- what is there -------------------------------------------------------- */

static bool
is_on_path(struct span program)
{
	const char *path = getenv("PATH");
	struct span folder, rest;
	char file[FS_PATH_MAX];

	if (span_find(program, '/') < program.len)
		return fs_path(file, "%.*s", SPAN_ARG(program)) == ERR_OK &&
		    access(file, X_OK) == 0;
	rest = span_of(path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path);
	while (span_cut(&folder, &rest, ':'))
		if (fs_path(file, "%.*s/%.*s", SPAN_ARG(folder),
			SPAN_ARG(program)) == ERR_OK &&
		    access(file, X_OK) == 0)
			return true;
	return false;
}

/* A command's first word. */
static bool
has_command(const char *command)
{
	struct span text = span_trim(span_of(command));

	return is_on_path(span_sub(text, 0, span_find(text, ' ')));
}

bool
speaker_can(const struct hud_settings *settings, struct fault *fault)
{
	const char *why = NULL;
	bool player = false;

	for (size_t i = 0; i < PLAYERS; i++)
		player = player || has_command(players[i]);
	if (settings->player[0] != '\0')
		player = has_command(settings->player);
	if (settings->engine == ENGINE_NONE)
		why = "Speech is switched off in the window's settings.";
	else if (settings->engine == ENGINE_DISPATCHER)
		return true; /* it speaks and plays by itself */
	else if (!is_on_path(SPAN("espeak-ng")))
		why = "Nothing can speak here: the program espeak-ng is not "
		      "installed (apt install espeak-ng).";
	else if (!player)
		why = settings->player[0] != '\0'
		    ? "Nothing can play sound here: the program that [speech] "
		      "player names is not installed."
		    : "Nothing can play sound here: none of pw-play, paplay "
		      "and aplay is installed (apt install pipewire-bin, "
		      "pulseaudio-utils or alsa-utils).";
	if (why != NULL)
		fault_set(fault, "speech", "%s", why);
	return why == NULL;
}

/* --- beginning ------------------------------------------------------------ */

static enum err
make_wav(struct speaker *speaker)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	enum err err;
	int fd;

	if (folder == NULL || folder[0] != '/')
		folder = getenv("TMPDIR");
	if (folder == NULL || folder[0] != '/')
		folder = "/tmp";
	err = fs_path(speaker->wav, "%s/gridhud-XXXXXX", folder);
	if (err != ERR_OK)
		return err;
	fd = mkostemp(speaker->wav, O_CLOEXEC);
	if (fd < 0) {
		err = err_from_errno(errno);
		log_error("no file for sound: folder=%s reason=%s", folder,
		    err_text(err));
		speaker->wav[0] = '\0';
		return err;
	}
	close(fd);
	return ERR_OK;
}

static enum err
synthesise(
    struct speaker *speaker, struct span text, const char *voice, int64_t rate)
{
	char voice_text[80], rate_text[24];
	char *argv[] = {(char[]){"espeak-ng"}, (char[]){"-v"}, voice_text,
	    (char[]){"-s"}, rate_text, (char[]){"-w"}, speaker->wav,
	    (char[]){"--stdin"}, NULL};
	enum err err = make_wav(speaker);

	snprintf(voice_text, sizeof(voice_text), "%s", voice);
	snprintf(rate_text, sizeof(rate_text), "%lld", (long long)rate);
	if (err == ERR_OK)
		err = child_start(&speaker->pid, argv, text);
	if (err != ERR_OK)
		remove_wav(speaker);
	return err;
}

enum err
speaker_start(struct speaker *speaker, const struct hud_settings *settings,
    struct span text, const char *voice, int64_t rate, int64_t now_ms)
{
	struct ssip_job job = {.text = text};
	enum err err;

	assert(voice != NULL && rate >= 0);
	if (speaker->stage != RESTING)
		return ERR_BUSY;
	if (voice[0] == '\0')
		voice = settings_voice(settings);
	if (rate == 0)
		rate = settings->rate;
	while (text.len > TEXT_BYTES)
		text = text_cut_count(text, TEXT_BYTES / 4);
	job = (struct ssip_job){text, voice, rate};
	if (settings->engine == ENGINE_DISPATCHER)
		err = child_fork(&speaker->pid, ssip_speak, &job);
	else
		err = synthesise(speaker, text, voice, rate);
	if (err != ERR_OK)
		return err;
	speaker->stopped = speaker->late = false;
	speaker->tried = 0;
	speaker->stage =
	    settings->engine == ENGINE_DISPATCHER ? DISPATCHING : SYNTHESIS;
	speaker->deadline_ms =
	    now_ms + (speaker->stage == DISPATCHING ? DISPATCH_MS : SYNTH_MS);
	return ERR_OK;
}

/* --- going on ------------------------------------------------------------- */

static const char *
player_of(const struct speaker *speaker, const struct hud_settings *settings)
{
	if (settings->player[0] != '\0')
		return settings->player;
	return players[(speaker->player + speaker->tried) % PLAYERS];
}

static enum err
play(struct speaker *speaker, const struct hud_settings *settings,
    int64_t now_ms)
{
	char command[COMMAND_MAX];
	char *argv[CHILD_ARGS_MAX + 1];
	int64_t length = 0;
	unsigned count;
	enum err err = wav_length_ms(&length, speaker->wav);

	if (err != ERR_OK)
		return err;
	snprintf(command, sizeof(command), "%s", player_of(speaker, settings));
	count = child_split(argv, command);
	if (count == 0)
		return ERR_BAD_INPUT;
	argv[count] = speaker->wav;
	argv[count + 1] = NULL;
	err = child_start(&speaker->pid, argv, SPAN(""));
	if (err != ERR_OK)
		return err;
	speaker->stage = PLAYING;
	speaker->deadline_ms = now_ms + length + PLAY_EXTRA_MS;
	return ERR_OK;
}

static enum speaker_end
rest(struct speaker *speaker, enum speaker_end end)
{
	remove_wav(speaker);
	speaker->stage = RESTING;
	return end;
}

static enum speaker_end
fail(struct speaker *speaker, struct fault *fault, const char *place,
    const char *message)
{
	fault_set(fault, place, "%s", message);
	return rest(speaker, SPEAKER_FAILED);
}

static enum speaker_end
after_synthesis(struct speaker *speaker, const struct hud_settings *settings,
    int code, int64_t now_ms, struct fault *fault)
{
	if (code == CHILD_NOT_FOUND)
		return fail(speaker, fault, "espeak-ng",
		    "is not installed: nothing can be spoken (apt install "
		    "espeak-ng, or [speech] engine = none)");
	if (code != 0)
		return fail(
		    speaker, fault, "espeak-ng", "could not speak the text");
	if (play(speaker, settings, now_ms) != ERR_OK)
		return fail(speaker, fault, "espeak-ng",
		    "made no sound file that can be played");
	return SPEAKER_NOTHING;
}

static enum speaker_end
after_playing(struct speaker *speaker, const struct hud_settings *settings,
    int code, int64_t now_ms, struct fault *fault)
{
	bool own = settings->player[0] != '\0';

	if (code == 0) {
		speaker->player = (speaker->player + speaker->tried) % PLAYERS;
		return rest(speaker, SPEAKER_DONE);
	}
	if (!own && ++speaker->tried < PLAYERS &&
	    play(speaker, settings, now_ms) == ERR_OK)
		return SPEAKER_NOTHING;
	return fail(speaker, fault, own ? settings->player : "sound",
	    own ? "cannot play: see [speech] player"
		: "cannot be played: pw-play, paplay and aplay are missing or "
		  "find no sound server (or set [speech] player)");
}

static enum speaker_end
go_on(struct speaker *speaker, const struct hud_settings *settings, int code,
    int64_t now_ms, struct fault *fault)
{
	if (speaker->stopped)
		return rest(speaker, SPEAKER_STOPPED);
	if (speaker->late)
		return fail(
		    speaker, fault, "speech", "took too long and was stopped");
	switch (speaker->stage) {
	case SYNTHESIS:
		return after_synthesis(speaker, settings, code, now_ms, fault);
	case PLAYING:
		return after_playing(speaker, settings, code, now_ms, fault);
	default:
		if (code == 0)
			return rest(speaker, SPEAKER_DONE);
		return fail(speaker, fault, "speech-dispatcher",
		    code == CHILD_NOT_FOUND
			? "is not running for this user (or set [speech] "
			  "engine = espeak)"
			: "could not speak the text");
	}
}

enum speaker_end
speaker_poll(struct speaker *speaker, const struct hud_settings *settings,
    int64_t now_ms, struct fault *fault)
{
	int code;

	assert(speaker->stage == RESTING || speaker->pid > 0);
	if (speaker->stage == RESTING)
		return SPEAKER_NOTHING;
	if (!child_ended(speaker->pid, &code)) {
		if (now_ms >= speaker->deadline_ms && !speaker->late) {
			speaker->late = true;
			speaker->deadline_ms = now_ms + 1000;
			child_kill(speaker->pid);
		}
		return SPEAKER_NOTHING;
	}
	return go_on(speaker, settings, code, now_ms, fault);
}
