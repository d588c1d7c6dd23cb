#include "common/err.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/count.h"

#define NO_ADDRESS "too little address space: raise ulimit -v (LimitAS=)"

static const char *const texts[ERR_COUNT] = {
    [ERR_OK] = "ok",
    [ERR_NO_MEMORY] = "out of memory",
    [ERR_TOO_LARGE] = "too large",
    [ERR_BAD_INPUT] = "malformed input",
    [ERR_NOT_FOUND] = "not found",
    [ERR_NOT_READY] = "not ready yet",
    [ERR_EXISTS] = "exists already",
    [ERR_LAST] = "the last one must stay",
    [ERR_BUSY] = "busy",
    [ERR_DENIED] = "permission denied",
    [ERR_DAMAGED] = "stored data damaged",
    [ERR_DAMAGED_BESIDE] = "other stored data damaged",
    [ERR_VERSION] = "stored by another version",
    [ERR_NO_SPACE] = "the disk is full: make room",
    [ERR_MAP_FULL] = "the file's map is full, the disk is not",
    [ERR_NO_ADDRESS] = NO_ADDRESS,
    [ERR_NO_FILES] = "too many open files: raise ulimit -n (LimitNOFILE=)",
    [ERR_READ_ONLY] = "the disk is read-only",
    [ERR_TIMED_OUT] = "timed out",
    [ERR_CLOSED] = "closed by the peer",
    [ERR_BEHIND] = "another node has written since",
    [ERR_AWAY] = "the log of all nodes is out of reach: nothing was stored",
    [ERR_UNKNOWN] = "it may have been stored: look again",
    [ERR_STORED] = "it is stored, but this node's disk does not take it",
    [ERR_OUTRUN] =
	"it must join anew ('gridctl cluster join --anew'): nothing stored",
    [ERR_FORKED] = "the log has lost entries that are here: nothing stored",
    [ERR_CUT_OFF] =
	"its cluster.conf is missing ('gridctl doctor'): nothing stored",
    [ERR_SYSTEM] = "refused by the system",
    [ERR_INTERNAL] = "internal mistake",
    [ERR_ANSWERED] = "answered",
};

/* Where this process has such a limit, it may be the cause. */
static const struct {
	enum err err;
	int resource;
	const char *text;
} limits[] = {
    {ERR_NO_MEMORY, RLIMIT_AS, NO_ADDRESS},
    {ERR_NO_SPACE, RLIMIT_FSIZE,
	"the disk is full, or a file is as long as ulimit -f (LimitFSIZE=) "
	"allows: make room, or raise the limit"},
};

static const struct {
	int errnum;
	enum err err;
} errnos[] = {
    {0, ERR_OK},
    {ENOMEM, ERR_NO_MEMORY},
    {E2BIG, ERR_TOO_LARGE},
    {EMSGSIZE, ERR_TOO_LARGE},
    {EOVERFLOW, ERR_TOO_LARGE},
    {ENAMETOOLONG, ERR_TOO_LARGE},
    {EILSEQ, ERR_BAD_INPUT},
    {ENOENT, ERR_NOT_FOUND},
    {ENOTDIR, ERR_NOT_FOUND},
    {EEXIST, ERR_EXISTS},
    {ENOTEMPTY, ERR_EXISTS},
    {EADDRINUSE, ERR_EXISTS},
    {EAGAIN, ERR_BUSY},
    {EBUSY, ERR_BUSY},
    {EACCES, ERR_DENIED},
    {EPERM, ERR_DENIED},
    {EROFS, ERR_READ_ONLY},
    {ENOSPC, ERR_NO_SPACE},
    {EFBIG, ERR_NO_SPACE}, /* this process may make no longer files */
    {EDQUOT, ERR_NO_SPACE},
    {EMFILE, ERR_NO_FILES},
    {ENFILE, ERR_NO_FILES},
    {ETIMEDOUT, ERR_TIMED_OUT},
    {EPIPE, ERR_CLOSED},
    {ECONNRESET, ERR_CLOSED},
    {ECONNABORTED, ERR_CLOSED},
    {ENOTCONN, ERR_CLOSED},
};

const char *
err_text(enum err err)
{
	struct rlimit limit;

	if ((unsigned)err >= ERR_COUNT)
		return "unknown error";
	for (size_t i = 0; i < COUNT(limits); i++)
		if (limits[i].err == err &&
		    getrlimit((unsigned)limits[i].resource, &limit) == 0 &&
		    limit.rlim_cur != RLIM_INFINITY)
			return limits[i].text;
	return texts[err];
}

bool
err_is_limit(enum err err)
{
	return err == ERR_NO_MEMORY || err == ERR_NO_ADDRESS ||
	    err == ERR_NO_FILES;
}

enum err
err_from_errno(int errnum)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].errnum == errnum)
			return errnos[i].err;
	return ERR_SYSTEM;
}

void
fault_clear(struct fault *fault)
{
	fault->place[0] = '\0';
	fault->message[0] = '\0';
}

bool
fault_is_set(const struct fault *fault)
{
	return fault->place[0] != '\0' || fault->message[0] != '\0';
}

_Static_assert(
    sizeof(struct fault) + 2 <= FAULT_TEXT_MAX, "a whole fault has room");

const char *
fault_text(char text[FAULT_TEXT_MAX], const struct fault *fault, enum err err)
{
	bool both = fault->place[0] != '\0' && fault->message[0] != '\0';

	snprintf(text, FAULT_TEXT_MAX, "%s%s%s", fault->place, both ? ": " : "",
	    fault_is_set(fault) ? fault->message : err_text(err));
	return text;
}

/*
 * Ends a text that filled all of `size` with "...", and never in the middle of
 * a UTF-8 sequence.
 */
static void
mark_cut(char *text, size_t size)
{
	size_t end = size - sizeof("...");

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", sizeof("..."));
}

/*
 * Replaces C0 and C1 controls and DEL: an operand must not be able to control
 * the terminal.
 */
static void
hide_controls(char *text)
{
	unsigned char *at = (unsigned char *)text;

	for (; *at != '\0'; at++)
		if (*at < 0x20 || *at == 0x7f)
			*at = '?';
		else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
			at[0] = at[1] = '?';
}

void
fault_set(struct fault *fault, const char *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fault_vset(fault, place, format, args);
	va_end(args);
}

void
fault_vset(
    struct fault *fault, const char *place, const char *format, va_list args)
{
	int len;

	if (fault == NULL || fault_is_set(fault))
		return;
	len = snprintf(fault->place, sizeof(fault->place), "%s",
	    place == NULL ? "" : place);
	if (len >= (int)sizeof(fault->place))
		mark_cut(fault->place, sizeof(fault->place));
	len = vsnprintf(fault->message, sizeof(fault->message), format, args);
	if (len >= (int)sizeof(fault->message))
		mark_cut(fault->message, sizeof(fault->message));
	else if (len <= 0) /* empty, or printf failed */
		snprintf(fault->message, sizeof(fault->message), "failed");
	hide_controls(fault->place);
	hide_controls(fault->message);
}
