/*
 * rows: what the endpoints that answer with grid rows have in common: the
 * snapshot they serve, its ranges of today, the form the client asked for,
 * and the members that stand around the rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fcgi/call.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/splice.h"

/* A supplier's snapshot as this request sees it. */
struct rows_view {
	struct pinned *pinned;
	struct ranges *ranges;
	bool damaged; /* ERR_NOT_READY: the file is there, and is damaged */
};

/*
 * Pins the current generation, or `generation` when it is not 0; without its
 * ranges of today, for who shows none of its rows.
 *
 *   ERR_NOT_READY  never computed, or its file is damaged: compute it
 *   ERR_NOT_FOUND  that generation is not kept any more
 */
enum err rows_pin(struct rows_view *view, struct call *call,
    struct span supplier, uint64_t generation);

/* Adds the ranges of today; a failure has let the view go. */
enum err rows_add_ranges(struct rows_view *view, struct call *call);

/* Both. */
enum err rows_open(struct rows_view *view, struct call *call,
    struct span supplier, uint64_t generation);

/* The same for a generation that the catalogue has just named. */
enum err rows_open_known(struct rows_view *view, struct call *call,
    struct span supplier, uint64_t generation);

/* Its rows may be part of the answer: they stay put until that is out. */
void rows_close(struct rows_view *view, struct call *call);

/* The same when nothing of it is in the answer: it is let go at once. */
void rows_drop(struct rows_view *view, struct call *call);

/*
 * Passes `err` on. When it says that the view's snapshot is damaged, the
 * snapshot is let go of, so that one answer fails and the next request has the
 * supplier computed anew.
 */
enum err rows_blame(
    struct call *call, const struct rows_view *view, enum err err);

/* Answers of more rows are streamed rather than gathered first. */
#define ROWS_GATHERED 2048

/*
 * What takes more rows than these belongs to the slow pool: many at once must
 * not take the threads that serve pages, and nginx must not compress them.
 */
#define ROWS_DUMP 5000

/*
 * While streaming: puts what has been gathered, when it is worth a call. Said
 * before the `nth` row is added and not behind it, so that the comma behind
 * the last row can still be taken back. False when the client has gone.
 */
bool rows_flush(struct call *call, int64_t nth);

/* The form by the Accept header: JSON unless another one is named. */
enum splice_form rows_form(const struct request *request);

/* True when the client reads gzip and does not like plain bytes better. */
bool rows_takes_gzip(const struct request *request);

/* Content-Type and Vary for a form; `packed`: it may come as gzip from here. */
void rows_headers(struct call *call, enum splice_form form, bool packed);

struct rows_pages {
	int64_t page, limit, total, pages;
	bool more;
};
struct rows_pages rows_pages(int64_t page, int64_t limit, int64_t total);

/* What lists but /grid give without `limit`. */
#define ROWS_LIMIT 100

/* How many of all the page shows, and how many come before it. */
int64_t rows_page_of(int64_t *first, const struct rows_pages *pages);

/*
 * "complet":…, and when pages are left "avertissement":…, which says how many
 * of how many are shown and, in French, how to get the others.
 */
void rows_meta_cut(struct pieces *body, const struct rows_pages *pages,
    int64_t shown, const char *how);
#define ROWS_HOW_LIST \
	"demander les pages suivantes, ou donner un limit plus grand."

/* ,"pagination":{…} */
void rows_pagination(struct pieces *body, const struct rows_pages *pages);

/* The same as headers, and RFC 8288 links. */
void rows_page_headers(
    struct call *call, const struct rows_pages *pages, enum splice_form form);

/* Mixes bytes into a hash, for tags of many generations; begin with 0. */
uint64_t rows_mix(uint64_t hash, const void *data, size_t len);

/*
 * The tag of an answer that depends on these generations and the request.
 * True when the client has it: the 304 is then made.
 */
bool rows_not_modified(struct call *call, const uint64_t *generations,
    unsigned count, enum splice_form form);

/* A quoted string. */
void rows_quote(struct pieces *body, struct span text);

/* A bare number. */
void rows_int(struct pieces *body, int64_t value);

/* ,"name":"text" and the like, behind another member. */
void rows_member_text(struct pieces *body, const char *name, struct span text);
void rows_member_null_text(
    struct pieces *body, const char *name, struct span text);
void rows_member_int(struct pieces *body, const char *name, int64_t value);
void rows_member_bool(struct pieces *body, const char *name, bool value);
void rows_member_time(struct pieces *body, const char *name, int64_t ms);

void rows_member_day(struct pieces *body, const char *name, int32_t day);

/* The folded words of a search text, borrowed from the call. */
enum err rows_words(struct span *words, struct call *call, struct span text);

/* 404 for a supplier that does not exist or has no article. */
void rows_no_supplier(struct call *call, struct span supplier);

/* 500 for damaged or unreadable storage; the log has said why. */
void rows_storage_failed(struct call *call, enum err err);

/*
 * The same for what was to be stored, all or nothing: that nothing was, and
 * what must change before it can be. Where that is not sure, to look again.
 */
void rows_write_failed(struct call *call, enum err err);
