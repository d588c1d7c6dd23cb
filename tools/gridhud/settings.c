#include "tools/gridhud/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/conf.h"

#define AT(member) offsetof(struct hud_settings, member)

static const char *const engines[] = {
    "auto", "espeak", "dispatcher", "none", NULL};
static const char *const languages[] = {"en", "fr", NULL};
static const char *const themes[] = {"auto", "day", "night", NULL};

static const struct conf_row rows[] = {
    {"server", "app", CONF_TEXT, AT(app), "assistant", 1, 64, NULL,
	"The server's application name, as its own [server] app."},
    {"server", "socket", CONF_TEXT, AT(socket), "", 0, 100, NULL,
	"The server's socket for its window. Empty: "
	"$XDG_RUNTIME_DIR/<app>/interface.sock, else "
	"/tmp/<app>-<uid>/interface.sock."},

    {"history", "file", CONF_TEXT, AT(history), "", 0, 4095, NULL,
	"Where the conversation is kept. Empty: "
	"$XDG_STATE_HOME/gridhud/history, else "
	"~/.local/state/gridhud/history."},
    {"history", "keep_messages", CONF_INT, AT(keep_messages), "10000", 10,
	1000000, NULL, "Messages kept; the oldest go first."},
    {"history", "keep_bytes", CONF_SIZE, AT(keep_bytes), "6M", 65536,
	1073741824, NULL, "Bytes of messages kept; the oldest go first."},

    {"quiet", "hours", CONF_TEXT, AT(quiet_text), "", 0, 1023, NULL,
	"When nothing is spoken but failures of scheduled jobs and what is "
	"urgent: 22:00-07:00, or mon-fri 22:00-07:00, sat+sun 23:00-09:00. "
	"May cross midnight; the days are those on which it starts. Empty: "
	"never."},
    {"quiet", "strict", CONF_BOOL, AT(quiet_strict), "no", 0, 0, NULL,
	"In quiet hours speak nothing but failures of scheduled jobs."},

    {"policy", "priority_words", CONF_TEXT, AT(priority_words),
	"urgent, urgence", 0, 4095, NULL,
	"Words and phrases, with commas between, that make a message one of "
	"high priority. Whole words; case and accents do not matter."},
    {"policy", "speak_job_failures", CONF_BOOL, AT(speak_job_failures), "yes",
	0, 0, NULL,
	"Read failures of scheduled jobs aloud at any hour, muted or not."},
    {"policy", "mute_sources", CONF_TEXT, AT(mute_sources), "", 0, 4095, NULL,
	"Sources whose ordinary messages are not spoken, with commas between; "
	"the window's m key adds to them."},
    {"policy", "bell", CONF_BOOL, AT(bell), "yes", 0, 0, NULL,
	"Ring the terminal's bell for what is urgent."},

    {"speech", "enabled", CONF_BOOL, AT(speech), "yes", 0, 0, NULL,
	"Speak messages. No: only failures of scheduled jobs."},
    {"speech", "engine", CONF_CHOICE, AT(engine), "auto", 0, 0, engines,
	"What speaks. auto is espeak; dispatcher is speech-dispatcher; with "
	"none nothing is ever spoken."},
    {"speech", "language", CONF_CHOICE, AT(language), "en", 0, 0, languages,
	"Language of what the window itself says."},
    {"speech", "voice", CONF_TEXT, AT(voice), "", 0, 64, NULL,
	"Voice, such as en-gb or fr. Empty: by the language."},
    {"speech", "rate", CONF_INT, AT(rate), "170", 80, 450, NULL,
	"Words a minute."},
    {"speech", "player", CONF_TEXT, AT(player), "", 0, 1023, NULL,
	"Command that plays a sound file, whose name is put behind it. Empty: "
	"the first that works of pw-play, paplay and aplay."},
    {"speech", "sentences", CONF_INT, AT(sentences), "2", 1, 20, NULL,
	"How many of a message's first sentences are spoken."},
    {"speech", "max_chars", CONF_INT, AT(max_chars), "240", 20, 5000, NULL,
	"The most characters of a message that are spoken."},
    {"speech", "queue", CONF_INT, AT(queue_max), "20", 2, 200, NULL,
	"How much may wait to be spoken; ordinary messages go first, failures "
	"never."},
    {"speech", "burst_count", CONF_INT, AT(burst_count), "3", 1, 100, NULL,
	"When more messages than this come within burst_time, the first is "
	"spoken, and then how many more there are."},
    {"speech", "burst_time", CONF_SECONDS, AT(burst_s), "5", 1, 600, NULL,
	"See burst_count."},

    {"window", "theme", CONF_CHOICE, AT(theme), "auto", 0, 0, themes,
	"Colours; auto is night in night_hours."},
    {"window", "night_hours", CONF_TEXT, AT(night_text), "20:00-07:00", 0, 1023,
	NULL, "When it is night, written as quiet hours are."},
    {"window", "title", CONF_BOOL, AT(title_unread), "yes", 0, 0, NULL,
	"Show the number of unread messages in the terminal's title."},
    {"window", "mouse", CONF_BOOL, AT(mouse), "yes", 0, 0, NULL,
	"Wheel and clicks. No: the terminal's own selection works."},
    {"window", "notify", CONF_BOOL, AT(notify), "no", 0, 0, NULL,
	"Show failed jobs, alerts and what is urgent as notifications of the "
	"desktop, while the window does not have the focus."},
    {"window", "opener", CONF_TEXT, AT(opener), "xdg-open", 1, 1023, NULL,
	"Command that opens a link, which is put behind it."},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

void
settings_print(FILE *file)
{
	conf_print(file, rows, ROWS);
}

void
settings_fini(struct hud_settings *settings)
{
	conf_fini(settings, rows, ROWS);
}

enum err
settings_path(char out[FS_PATH_MAX], const char *path)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	out[0] = '\0';
	if (path != NULL)
		return fs_path(out, "%s", path);
	if (config != NULL && config[0] == '/')
		return fs_path(out, "%s/gridhud.conf", config);
	if (home != NULL && home[0] == '/')
		return fs_path(out, "%s/.config/gridhud.conf", home);
	return ERR_NOT_FOUND;
}

static enum err
read_file(struct hud_settings *settings, const char *given, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err = settings_path(path, given);

	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err != ERR_OK) {
		fault_set(fault, "--config", "the path is too long");
		return err;
	}
	err = conf_read(settings, rows, ROWS, path, fault);
	if (err == ERR_NOT_FOUND && given == NULL) {
		fault_clear(fault);
		return ERR_OK;
	}
	return err;
}

enum err
settings_load(
    struct hud_settings *settings, const char *path, struct fault *fault)
{
	enum err err;

	memset(settings, 0, sizeof(*settings));
	err = conf_defaults(settings, rows, ROWS, fault);
	if (err == ERR_OK)
		err = read_file(settings, path, fault);
	if (err == ERR_OK)
		err = hours_parse(&settings->quiet, settings->quiet_text,
		    "[quiet] hours", fault);
	if (err == ERR_OK)
		err = hours_parse(&settings->night, settings->night_text,
		    "[window] night_hours", fault);
	return err;
}

/* --- as they stand -------------------------------------------------------- */

static void
add_value(const struct hud_settings *settings, const struct conf_row *row,
    struct buf *buf)
{
	const char *at = (const char *)settings + row->offset;
	int64_t number = 0;

	if (row->type == CONF_TEXT)
		buf_addf(buf, "%s", *(char *const *)(const void *)at);
	else if (row->type == CONF_BOOL)
		buf_addf(
		    buf, "%s", *(const bool *)(const void *)at ? "yes" : "no");
	else if (row->type == CONF_CHOICE)
		buf_addf(
		    buf, "%s", row->choices[*(const int *)(const void *)at]);
	else {
		memcpy(&number, at, sizeof(number));
		buf_addf(buf, "%lld", (long long)number);
	}
}

void
settings_value(const struct hud_settings *settings, struct span section,
    struct span name, struct buf *buf)
{
	for (size_t i = 0; i < ROWS; i++)
		if (span_eq(span_of(rows[i].section), section) &&
		    span_eq(span_of(rows[i].name), name))
			add_value(settings, &rows[i], buf);
}

void
settings_list(const struct hud_settings *settings, struct buf *buf)
{
	assert(buf != NULL);
	for (size_t i = 0; i < ROWS; i++) {
		if (i == 0 || strcmp(rows[i].section, rows[i - 1].section) != 0)
			buf_addf(buf, "%s[%s]\n", i == 0 ? "" : "\n",
			    rows[i].section);
		buf_addf(buf, "%s = ", rows[i].name);
		add_value(settings, &rows[i], buf);
		buf_add_char(buf, '\n');
	}
}

/* --- what follows from them ----------------------------------------------- */

enum err
settings_socket(char path[FS_PATH_MAX], const struct hud_settings *settings)
{
	const char *session = getenv("XDG_RUNTIME_DIR");

	assert(settings->app != NULL && settings->socket != NULL);
	if (settings->socket[0] != '\0')
		return fs_path(path, "%s", settings->socket);
	if (session != NULL && session[0] == '/')
		return fs_path(
		    path, "%s/%s/interface.sock", session, settings->app);
	return fs_path(path, "/tmp/%s-%lu/interface.sock", settings->app,
	    (unsigned long)getuid());
}

enum err
settings_history(char path[FS_PATH_MAX], const struct hud_settings *settings)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	assert(settings->history != NULL);
	if (settings->history[0] != '\0')
		return fs_path(path, "%s", settings->history);
	if (state != NULL && state[0] == '/')
		return fs_path(path, "%s/gridhud/history", state);
	if (home != NULL && home[0] == '/')
		return fs_path(path, "%s/.local/state/gridhud/history", home);
	return ERR_NOT_FOUND;
}

const char *
settings_voice(const struct hud_settings *settings)
{
	assert(settings->voice != NULL);
	if (settings->voice[0] != '\0')
		return settings->voice;
	return settings->language == LANGUAGE_FR ? "fr" : "en";
}

bool
settings_list_has(const char *list, struct span item)
{
	struct span rest = span_of(list);
	struct span piece;

	assert(list != NULL);
	while (span_cut(&piece, &rest, ',')) {
		piece = span_trim(piece);
		if (piece.len > 0 && span_eq_nocase(piece, item))
			return true;
	}
	return false;
}
