/*
 * paging: which page of how many an answer shows, and how the answer says so:
 * members of its JSON, headers, and links (RFC 8288).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fcgi/http/format.h"

struct call;
struct jsonw;

/* Rows a page without `limit`, in all lists but /grid. */
#define PAGING_LIMIT 100

struct paging {
	int64_t page, limit, total, pages;
	bool more; /* pages follow this one */
};

/* `limit` 0 is no limit: one page shows all. */
struct paging paging_of(int64_t page, int64_t limit, int64_t total);

/* How many rows the page shows; *first of all rows come before it. */
int64_t paging_rows(int64_t *first, const struct paging *pages);

/* How to get the rows that a page leaves out. */
enum paging_how {
	PAGING_HOW_LIST, /* by the next pages, or a greater limit */
	PAGING_HOW_GRID /* without limit, too */
};

/*
 * Members: "complet", and when pages follow "avertissement", which says how many
 * of how many rows are shown and how to get the others: in French, or in the
 * language that request_french() tells.
 */
void paging_meta(struct jsonw *json, const struct call *call,
    const struct paging *pages, int64_t shown, enum paging_how how);

/* The text alone; its length. */
#define PAGING_WARNING_MAX 256
size_t paging_warning(char text[PAGING_WARNING_MAX], const struct call *call,
    const struct paging *pages, int64_t shown, enum paging_how how);

/* The member "pagination". */
void paging_member(struct jsonw *json, const struct paging *pages);

/* The links; and for forms without members the numbers, as headers. */
void paging_headers(
    struct call *call, const struct paging *pages, enum format format);
