#include "tools/gridhud/voice/phrase.h"

#include <assert.h>
#include <stdio.h>

#include "tools/gridhud/text.h"
#include "tools/gridhud/voice/prose.h"

#define COMPOSED_MAX ((size_t)64 << 10)
#define NAME_CHARS 60

/* Plurals by [count != 1]; French counts 0 as one. */
static const struct {
	const char *job_failed;
	const char *away[2];
	const char *failures[2];
	const char *more[2];
	const char *more_failures[2];
	const char *others;
} texts[] = {
    [LANGUAGE_EN] = {"Job %.*s failed",
	{"%u message while you were away", "%u messages while you were away"},
	{", %u failure", ", %u failures"},
	{"and %u more message", "and %u more messages"},
	{"and %u more failure", "and %u more failures"}, " and %u more"},
    [LANGUAGE_FR] = {"La tâche %.*s a échoué",
	{"%u message pendant votre absence",
	    "%u messages pendant votre absence"},
	{", %u échec", ", %u échecs"},
	{"et %u autre message", "et %u autres messages"},
	{"et %u autre échec", "et %u autres échecs"}, " et %u de plus"},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
add_count(struct buf *buf, const char *const forms[2], unsigned count)
{
	buf_addf(buf, forms[count != 1], count);
}

static void
add_job(struct buf *buf, enum language language, struct span name)
{
	buf_addf(buf, texts[language].job_failed, SPAN_ARG(name));
}

static void
add_others(struct buf *buf, enum language language, unsigned count)
{
	buf_addf(buf, texts[language].others, count);
}
#pragma GCC diagnostic pop

/* --- what came in meanwhile ----------------------------------------------- */

void
away_add(struct away *away, const struct message *message)
{
	struct span name = text_cut_count(message_job(message), NAME_CHARS);
	size_t len = strlen(away->names);

	assert(message != NULL);
	away->messages++;
	if (!message_is_failure(message))
		return;
	if (away->failures++ >= PHRASE_NAMES_MAX)
		return;
	if (len + name.len + 3 < sizeof(away->names))
		snprintf(away->names + len, sizeof(away->names) - len, "%s%.*s",
		    len == 0 ? "" : ", ", SPAN_ARG(name));
}

void
phrase_away(struct buf *buf, const struct away *away, enum language language)
{
	assert(language <= LANGUAGE_FR && away->failures <= away->messages);
	add_count(buf, texts[language].away, away->messages);
	if (away->failures == 0)
		return;
	add_count(buf, texts[language].failures, away->failures);
	buf_addf(buf, language == LANGUAGE_FR ? " : %s" : ": %s", away->names);
	if (away->failures > PHRASE_NAMES_MAX)
		add_others(buf, language, away->failures - PHRASE_NAMES_MAX);
}

/* --- one message ---------------------------------------------------------- */

void
phrase_message(struct buf *buf, const struct message *message,
    const struct hud_settings *settings)
{
	struct buf both;

	buf_init(&both, COMPOSED_MAX);
	if (message->title.len > 0 &&
	    !span_starts(message->text, message->title)) {
		buf_add_span(&both, message->title);
		buf_add_text(&both, "\n\n");
	}
	buf_add_span(&both, message->text);
	buf_add_span(buf, message->source);
	buf_add_text(buf, ": ");
	prose_summary(buf, buf_span(&both), (unsigned)settings->sentences,
	    (size_t)settings->max_chars);
	buf_fini(&both);
}

void
phrase_failure(struct buf *buf, const struct message *message,
    const struct hud_settings *settings)
{
	enum language language = (enum language)settings->language;
	struct span why =
	    message->error.len > 0 ? message->error : message->text;
	size_t before;

	add_job(
	    buf, language, text_cut_count(message_job(message), NAME_CHARS));
	before = buf->len;
	buf_addf(buf, language == LANGUAGE_FR ? " : " : ": ");
	prose_summary(buf, why, 1, (size_t)settings->max_chars);
	if (buf->len <= before + 3 && buf->err == ERR_OK) {
		buf->len = before;
		buf_add_char(buf, '.');
	}
}

/* --- what was left out ---------------------------------------------------- */

void
phrase_more(struct buf *buf, unsigned count, enum language language)
{
	assert(language <= LANGUAGE_FR);
	add_count(buf, texts[language].more, count);
}

void
phrase_more_failures(
    struct buf *buf, unsigned count, struct span names, enum language language)
{
	assert(language <= LANGUAGE_FR);
	add_count(buf, texts[language].more_failures, count);
	buf_addf(buf, language == LANGUAGE_FR ? " : %.*s" : ": %.*s",
	    SPAN_ARG(names));
}
