#include "tools/gridhud/voice/prose.h"

#include <assert.h>
#include <wctype.h>

#include "common/utf8.h"
#include "tools/gridhud/text.h"

#define PROSE_MAX ((size_t)64 << 10)

/* --- lines ---------------------------------------------------------------- */

static bool
is_fence(struct span line)
{
	return span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~"));
}

/* A table's line, or a rule: "| a | b |", "---", "=====". */
static bool
is_drawn(struct span line)
{
	if (line.len > 1 && line.ptr[0] == '|')
		return true;
	for (size_t i = 0; i < line.len; i++)
		if (strchr("-=_*|:+ \t", line.ptr[i]) == NULL)
			return false;
	return line.len >= 3;
}

/* The length of "## ", "- ", "12. ", "> " at the front. */
static size_t
mark_length(struct span line)
{
	size_t at = 0;

	while (at < line.len && line.ptr[at] == '#')
		at++;
	if (at == 0 && line.len > 0 && strchr("-*+>", line.ptr[0]) != NULL)
		at = 1;
	if (at == 0) {
		while (at < line.len && at < 3 && line.ptr[at] >= '0' &&
		    line.ptr[at] <= '9')
			at++;
		if (at > 0 && at < line.len &&
		    (line.ptr[at] == '.' || line.ptr[at] == ')'))
			at++;
		else
			at = 0;
	}
	return at > 0 && at < line.len && line.ptr[at] == ' ' ? at + 1 : 0;
}

/* --- inside a line -------------------------------------------------------- */

static const struct {
	uint32_t first, last;
} pictures[] = {
    {0x200D, 0x200D},
    {0x20E3, 0x20E3},
    {0x2190, 0x21FF},
    {0x2300, 0x23FF},
    {0x2460, 0x27BF},
    {0x2900, 0x297F},
    {0x2B00, 0x2BFF},
    {0xE000, 0xF8FF},
    {0xFE00, 0xFE0F},
    {0x1F000, 0x1FBFF},
};

static bool
is_picture(uint32_t point)
{
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
		if (point >= pictures[i].first && point <= pictures[i].last)
			return true;
	return false;
}

static size_t
link_length(struct span text)
{
	static const struct span starts[] = {
	    {"http://", 7}, {"https://", 8}, {"www.", 4}, {"mailto:", 7}};
	size_t end;

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!span_starts(text, starts[i]))
			continue;
		for (end = 0; end < text.len; end++)
			if (strchr(" \t\n<>\"", text.ptr[end]) != NULL)
				break;
		/*
		 * Punctuation that closes the sentence is not part of the link.
		 */
		while (end > starts[i].len &&
		    strchr(".,;:!?)]'", text.ptr[end - 1]) != NULL)
			end--;
		return end;
	}
	return 0;
}

/* "[text](target)": the text, and how long it all is; or 0. */
static size_t
named_link(struct span *name, struct span text)
{
	size_t close = span_find(text, ']');
	struct span after = span_from(text, close + 1);
	size_t end = span_find(after, ')');

	if (text.ptr[0] != '[' || close >= text.len || after.len == 0 ||
	    after.ptr[0] != '(' || end >= after.len)
		return 0;
	*name = span_sub(text, 1, close - 1);
	return close + 1 + end + 1;
}

/* Adds one character, never two blanks in a row. */
static void
put(struct buf *buf, size_t start, uint32_t point)
{
	if (text_is_blank(point)) {
		if (buf->len > start && buf->data[buf->len - 1] != ' ')
			buf_add_char(buf, ' ');
		return;
	}
	utf8_add(buf, point);
}

static void
put_line(struct buf *buf, size_t start, struct span line)
{
	bool in_word = false;
	struct span name;
	size_t skip;

	while (line.len > 0 && buf->err == ERR_OK) {
		struct span at = line;
		uint32_t point = text_next(&line);

		if (point == '!' && line.len > 0 && line.ptr[0] == '[' &&
		    named_link(&name, line) > 0)
			continue;
		if (point == '[' && (skip = named_link(&name, at)) > 0) {
			put_line(buf, start, name);
			line = span_from(at, skip);
			continue;
		}
		if (!in_word && (skip = link_length(at)) > 0) {
			line = span_from(at, skip);
			continue;
		}
		/* Inside a word it is part of a name: my_file. */
		if (point == '*' || point == '`' || point == '~' ||
		    (point == '_' &&
			!(in_word && line.len > 0 &&
			    text_is_word((unsigned char)line.ptr[0]))))
			continue;
		if (is_picture(point) || point == '<' || point == '>')
			point = ' ';
		in_word = text_is_word(point);
		put(buf, start, point);
	}
}

/* --- the whole ------------------------------------------------------------ */

static bool
ends_sentence(struct span text)
{
	static const struct span ends[] = {{".", 1}, {"!", 1}, {"?", 1},
	    {":", 1}, {";", 1}, {",", 1}, {"\xE2\x80\xA6", 3},
	    {"\xE3\x80\x82", 3}, {"\xEF\xBC\x81", 3}, {"\xEF\xBC\x9F", 3}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (span_ends(text, ends[i]))
			return true;
	return false;
}

static void
drop_blank(struct buf *buf, size_t start)
{
	while (buf->len > start && buf->data[buf->len - 1] == ' ')
		buf->len--;
}

/* Ends what was written so far as a sentence. */
static void
stop(struct buf *buf, size_t start)
{
	drop_blank(buf, start);
	if (buf->len > start && !ends_sentence(buf_span(buf)))
		buf_add_char(buf, '.');
	put(buf, start, ' ');
}

void
prose_add(struct buf *buf, struct span text)
{
	size_t start = buf->len;
	bool in_code = false, was_marked = false;
	struct span line;
	size_t mark;

	while (span_cut(&line, &text, '\n')) {
		line = span_trim(line);
		if (is_fence(line)) {
			in_code = !in_code;
			stop(buf, start);
			continue;
		}
		if (in_code)
			continue;
		if (line.len == 0 || is_drawn(line)) {
			stop(buf, start);
			was_marked = false;
			continue;
		}
		mark = mark_length(line);
		if (mark > 0 || was_marked)
			stop(buf, start);
		was_marked = mark > 0;
		put_line(buf, start, span_from(line, mark));
		put(buf, start, ' ');
	}
	if (was_marked)
		stop(buf, start);
	drop_blank(buf, start);
}

/* --- sentences ------------------------------------------------------------ */

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
	struct span text = span_trim(*rest);
	struct span at = text;
	struct span after;
	enum mark mark;
	size_t before;
	bool several;

	assert(sentence != NULL && rest != NULL);
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

/* --- the summary ---------------------------------------------------------- */

static size_t
count(struct span text)
{
	size_t n = 0;

	while (text.len > 0) {
		text_next(&text);
		n++;
	}
	return n;
}

/* Cut between words where there is one within reach. */
static void
add_cut(struct buf *buf, struct span sentence, size_t chars)
{
	struct span cut = text_cut_count(sentence, chars - 1);
	size_t end = cut.len;

	while (end > cut.len / 2 && cut.ptr[end - 1] != ' ')
		end--;
	if (end > cut.len / 2)
		cut = span_sub(cut, 0, end);
	buf_add_span(buf, span_trim(cut));
	buf_add_text(buf, "\xE2\x80\xA6");
}

void
prose_summary(
    struct buf *buf, struct span text, unsigned sentences, size_t chars)
{
	struct span sentence, rest;
	size_t used = 0;
	struct buf prose;

	assert(sentences > 0 && chars > 0);
	buf_init(&prose, PROSE_MAX);
	prose_add(&prose, text_cut_count(text, PROSE_MAX / 8));
	rest = buf_span(&prose);
	for (unsigned i = 0; i < sentences && prose_sentence(&sentence, &rest);
	     i++) {
		size_t len = count(sentence);

		if (used + (i > 0) + len > chars) {
			if (i == 0)
				add_cut(buf, sentence, chars);
			break;
		}
		if (i > 0)
			buf_add_char(buf, ' ');
		buf_add_span(buf, sentence);
		used += (i > 0) + len;
	}
	if (buf_end(&prose) != ERR_OK)
		buf_fail(buf, buf_end(&prose));
	buf_fini(&prose);
}
