/* Words by which senders say that something failed, in several languages. */
#include "tools/gridhook/events/family_priv.h"

#include <assert.h>
#include <ctype.h>

#include "common/count.h"
#include "common/fold.h"

#define WORDS_MAX 256 /* bytes of a text that are searched for words */
#define FOLDED_MAX 1024

/*
 * All lists hold folded words: lower case, no accents. "echec" stands for
 * "Échec", whether its accent is a character of its own or not.
 */

/* Anywhere in a word: "OOMKilled", "errored", "DeadlineExceeded". */
static const char *const bad_parts[] = {"fail", "error", "kill", "abort",
    "crash", "timeout", "timedout", "exceeded", "unsuccess", "terminat",
    "interrupt", "stall", "expire", "evict", "preempt", "panic", "fatal",
    "lost", "broken", "corrupt", "overdue", "unhealthy", "reject", "refused",
    "incomplet", "abnormal", "abend",
    /* French */
    "echec", "echou", "erreur", "avort", "interromp", "abandon", "depass",
    "bloqu", "anormal", "defaill", "corromp", "refuse", "rejet", "insuffisan",
    /* German, Dutch, Spanish, Italian, Portuguese */
    "fehlg", "fehler", "gescheitert", "misslung", "abgebrochen", "abgesturzt",
    "mislukt", "fallid", "fallit", "falho", "falha"};

/* Words by themselves: "oom-kill", "timed_out", "OUT_OF_MEMORY", "DEADLINE". */
static const char *const bad_words[] = {"oom", "memory", "ko", "nok", "dead",
    "err", "missed", "stuck", "late", "timed", "deadline", "dump", "watchdog",
    "signal", "plante", "plantee", "perdu", "perdue", "tue", "tuee", "retard",
    "manque", "manquee", "memoire", "hors", "casse", "cassee", "fallo",
    "fallado", "fallos", "erro", "erros", "fout", "fouten"};

static const char *const good_words[] = {"ok", "okay", "success", "successful",
    "successfully", "succeeded", "completed", "complete", "finished", "done",
    "passed", "good", "reussi", "reussie", "reussite", "succes", "termine",
    "terminee", "fini", "finie", "bon", "erfolgreich", "erfolg", "exito",
    "successo", "sucesso"};

/* Each denies the word behind it. */
static const char *const negations[] = {"no", "not", "without", "zero", "0",
    "never", "any", "non", "pas", "sans", "aucun", "aucune", "jamais", "kein",
    "keine", "keinen", "nicht", "ohne", "sin", "senza", "nessun", "sem", "geen",
    "zonder"};

/* Words between a negation and what it negates: "pas d'erreur". */
static const char *const fillers[] = {"d", "de", "l", "of", "an", "a"};

/* A word that reads like a failure and tells of none. */
static const char *const harmless[] = {"fehlerfrei", "fehlerlos", "failover",
    "failsafe", "fallback", "errorless", "errorfree"};

/*
 * Names of things that run by themselves, anywhere in a word: "job.failed",
 * "cronjob-error".
 */
static const char *const job_parts[] = {
    "job", "cron", "task", "tache", "workflow", "pipeline", "schedule"};

static const char *const job_words[] = {
    "run", "build", "script", "timer", "backup", "dag", "sauvegarde"};

static bool
is_among(struct span word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(word, span_of(list[i])))
			return true;
	return false;
}

static bool
has_part(struct span word, const char *const *list, size_t count)
{
	struct span part;

	for (size_t i = 0; i < count; i++) {
		part = span_of(list[i]);
		for (size_t at = 0; at + part.len <= word.len; at++)
			if (span_eq(span_sub(word, at, part.len), part))
				return true;
	}
	return false;
}

static bool
is_letter(char byte)
{
	return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* The next run of letters and digits; false at the end. */
static bool
next_word(struct span *word, struct span *rest)
{
	size_t from = 0, to;

	while (from < rest->len && !is_letter(rest->ptr[from]))
		from++;
	for (to = from; to < rest->len && is_letter(rest->ptr[to]); to++)
		;
	*word = span_sub(*rest, from, to - from);
	*rest = span_from(*rest, to);
	return word->len > 0;
}

/* A long text tells in its first line, if at all: a log may follow. */
static struct span
beginning(struct span text)
{
	size_t len = span_find(text, '\n');

	if (text.len <= WORDS_MAX)
		return text;
	if (len > WORDS_MAX)
		len = WORDS_MAX;
	while (len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
		len--;
	return span_sub(text, 0, len);
}

/* Into `store`, which has room for FOLDED_MAX bytes. */
static struct span
folded(struct span text, char *store)
{
	struct buf buf = {.data = store, .cap = FOLDED_MAX, .max = FOLDED_MAX};

	fold_add(&buf, text);
	return buf_span(&buf);
}

/* "FAILED", "Ended Not OK", "En échec"; not "completed, 0 errors". */
bool
family_words_fail(struct span text)
{
	char store[FOLDED_MAX];
	bool denied = false, bad;
	struct span word, rest = folded(beginning(text), store);

	while (next_word(&word, &rest)) {
		if (denied && is_among(word, fillers, COUNT(fillers)))
			continue;
		bad = (has_part(word, bad_parts, COUNT(bad_parts)) &&
			  !is_among(word, harmless, COUNT(harmless))) ||
		    is_among(word, bad_words, COUNT(bad_words));
		if (denied ? is_among(word, good_words, COUNT(good_words))
			   : bad)
			return true;
		denied = is_among(word, negations, COUNT(negations));
	}
	return false;
}

bool
family_words_name_job(struct span text)
{
	char store[FOLDED_MAX];
	struct span word, rest = folded(beginning(text), store);

	while (next_word(&word, &rest))
		if (has_part(word, job_parts, COUNT(job_parts)) ||
		    is_among(word, job_words, COUNT(job_words)))
			return true;
	return false;
}

bool
family_word_is(struct span word, const char *folded_word)
{
	char store[FOLDED_MAX];

	assert(folded_word != NULL);
	return word.len <= WORDS_MAX &&
	    span_eq(folded(word, store), span_of(folded_word));
}
