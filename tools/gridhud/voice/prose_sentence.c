/*
 * prose_sentence: where a sentence ends: not behind an abbreviation, an initial
 * or an ordinal number.
 */
#include "tools/gridhud/voice/prose.h"

#include <assert.h>
#include <wctype.h>

#include "tools/gridhud/text.h"

enum habit {
	NEVER_ENDS, /* "Dr." */
	BEFORE_NUMBER, /* "No. 5", but "No. We wait." */
	MAY_END /* "etc. and so on", but "etc. The end." */
};

static const struct {
	const char *word; /* folded to lower case, without its last dot */
	enum habit habit;
} abbreviations[] = {
    {"mr", NEVER_ENDS},
    {"mrs", NEVER_ENDS},
    {"ms", NEVER_ENDS},
    {"dr", NEVER_ENDS},
    {"prof", NEVER_ENDS},
    {"st", NEVER_ENDS},
    {"jr", MAY_END},
    {"sr", MAY_END},
    {"vs", NEVER_ENDS},
    {"e.g", NEVER_ENDS},
    {"i.e", NEVER_ENDS},
    {"cf", NEVER_ENDS},
    {"approx", NEVER_ENDS},
    {"dept", MAY_END},
    {"est", MAY_END},
    {"fig", BEFORE_NUMBER},
    {"no", BEFORE_NUMBER},
    {"nos", BEFORE_NUMBER},
    {"vol", BEFORE_NUMBER},
    {"ver", BEFORE_NUMBER},
    {"sec", BEFORE_NUMBER},
    {"art", BEFORE_NUMBER},
    {"chap", BEFORE_NUMBER},
    {"p", MAY_END},
    {"pp", MAY_END},
    {"inc", MAY_END},
    {"ltd", MAY_END},
    {"co", MAY_END},
    {"corp", MAY_END},
    {"etc", MAY_END},
    {"a.m", MAY_END},
    {"p.m", MAY_END},
    {"jan", MAY_END},
    {"feb", MAY_END},
    {"aug", MAY_END},
    {"sept", MAY_END},
    {"oct", MAY_END},
    {"nov", MAY_END},
    {"dec", MAY_END},
    /* French */
    {"mm", NEVER_ENDS},
    {"mme", NEVER_ENDS},
    {"mmes", NEVER_ENDS},
    {"mlle", NEVER_ENDS},
    {"me", MAY_END},
    {"pr", NEVER_ENDS},
    {"ste", NEVER_ENDS},
    {"bd", NEVER_ENDS},
    {"av", NEVER_ENDS},
    {"p.ex", NEVER_ENDS},
    {"ex", NEVER_ENDS},
    {"c.-à-d", NEVER_ENDS},
    {"c-à-d", NEVER_ENDS},
    {"env", NEVER_ENDS},
    {"tél", NEVER_ENDS},
    {"réf", NEVER_ENDS},
    {"éd", NEVER_ENDS},
    {"janv", MAY_END},
    {"févr", MAY_END},
    {"avr", MAY_END},
    {"juil", MAY_END},
    {"déc", MAY_END},
    {"hab", MAY_END},
    {"min", MAY_END},
    {"max", MAY_END},
};

static bool
is_lower(struct span text)
{
	return text.len > 0 && iswlower((wint_t)text_next(&text)) != 0;
}

static bool
is_digit(struct span text)
{
	return text.len > 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9';
}

/* ASCII and the accented capitals of Latin-1 are enough for the table. */
static bool
same_word(struct span text, const char *word)
{
	struct span other = span_of(word);

	while (text.len > 0 && other.len > 0)
		if (towlower((wint_t)text_next(&text)) !=
		    (wint_t)text_next(&other))
			return false;
	return text.len == other.len;
}

/* The word that ends at `end`, with the dots and hyphens inside it. */
static struct span
word_before(struct span text, size_t end)
{
	size_t start = end;

	while (start > 0 &&
	    ((unsigned char)text.ptr[start - 1] >= 0x80 ||
		text_is_word((unsigned char)text.ptr[start - 1]) ||
		text.ptr[start - 1] == '.' || text.ptr[start - 1] == '-'))
		start--;
	while (start < end && strchr(".-", text.ptr[start]) != NULL)
		start++;
	return span_sub(text, start, end - start);
}

static bool
is_initial(struct span word)
{
	struct span rest = word;
	uint32_t point;

	if (word.len == 0)
		return false;
	point = text_next(&rest);
	return rest.len == 0 && iswupper((wint_t)point) != 0;
}

/* True when the dot behind `word` ends no sentence; `next` follows it. */
static bool
is_abbreviated(struct span text, struct span word, struct span next)
{
	struct span digits = word;

	/* "1. First": a list's number at the front. */
	while (is_digit(digits))
		digits = span_from(digits, 1);
	if (digits.len == 0 && word.ptr == text.ptr && word.len > 0)
		return true;
	if (is_initial(word))
		return true;
	for (size_t i = 0; i < sizeof(abbreviations) / sizeof(abbreviations[0]);
	     i++) {
		if (!same_word(word, abbreviations[i].word))
			continue;
		switch (abbreviations[i].habit) {
		case NEVER_ENDS:
			return true;
		case BEFORE_NUMBER:
			return is_digit(next);
		default:
			return is_lower(next) || is_digit(next);
		}
	}
	/* "U.S. law": dots inside, and it goes on in lower case. */
	return span_find(word, '.') < word.len && is_lower(next);
}

enum mark { MARK_NONE, MARK_DOT, MARK_FIRM, MARK_WIDE };

static enum mark
mark_of(uint32_t point)
{
	switch (point) {
	case '.':
	case 0x2026: /* ... */
		return MARK_DOT;
	case '!':
	case '?':
	case 0x203D:
		return MARK_FIRM;
	case 0x3002: /* the full-width ones need no blank behind them */
	case 0xFF01:
	case 0xFF0E:
	case 0xFF1F:
	case 0xFF61:
		return MARK_WIDE;
	default:
		return MARK_NONE;
	}
}

static bool
is_closing(uint32_t point)
{
	return point == '"' || point == '\'' || point == ')' || point == ']' ||
	    point == 0x201D || point == 0x2019 || point == 0xBB ||
	    point == 0x300D;
}

/* Behind the mark at the front: further marks, quotes and brackets. */
static struct span
after_marks(struct span rest, bool *several)
{
	*several = false;
	while (rest.len > 0) {
		struct span at = rest;
		uint32_t point = text_next(&rest);

		if (mark_of(point) != MARK_NONE)
			*several = true;
		else if (!is_closing(point))
			return at;
	}
	return rest;
}

/* True when a sentence ends with the mark that stands before `rest`. */
static bool
ends_here(struct span text, size_t mark_at, enum mark mark, struct span rest)
{
	struct span blank = rest;
	struct span next = span_trim(rest);
	bool several;

	rest = after_marks(rest, &several);
	blank = rest;
	if (rest.len == 0 || mark == MARK_WIDE)
		return true;
	if (!text_is_blank(text_next(&blank)))
		return false;
	next = span_trim(rest);
	/* "Wait... what": it goes on. "Oh !" in French: it does too. */
	if (mark == MARK_DOT && (several || text.ptr[mark_at] != '.'))
		return !is_lower(next);
	if (mark == MARK_FIRM)
		return !is_lower(next);
	return !is_abbreviated(text, word_before(text, mark_at), next);
}

bool
prose_sentence(struct span *sentence, struct span *rest)
{
	struct span text, at, after;
	enum mark mark;
	size_t before;
	bool several;

	assert(sentence != NULL && rest != NULL);
	text = span_trim(*rest);
	at = text;
	while (at.len > 0) {
		before = text.len - at.len;
		mark = mark_of(text_next(&at));
		if (mark == MARK_NONE || !ends_here(text, before, mark, at))
			continue;
		after = after_marks(at, &several);
		*sentence = span_sub(text, 0, text.len - after.len);
		*rest = span_trim(after);
		return true;
	}
	*sentence = text;
	*rest = span_from(text, text.len);
	return text.len > 0;
}
