/*
 * address: where callers reach this site.
 */
#pragma once

struct buf;
struct call;

/*
 * Adds "https://grid.example.org": as the settings say, else as this caller
 * came. Without a slash at its end.
 */
void address_of_site(struct buf *url, const struct call *call);
