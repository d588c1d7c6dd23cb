/*
 * period: the twelve months that the rows at hand are about, and those of the
 * year before. A month without a figure has no key in a row's maps, and its place
 * in a drawing all the same.
 */
import {emit} from "./bus.js";

const MONTHS = 12;
let until = null; /* the last of them, counted from year 0 */
let since = null; /* the first with sales in the data; null: not known */

const counted = (key) => key.slice(0, 4) * 12 + Number(key.slice(-2)) - 1;

function keyOf(month, dash) {
	const year = String(Math.floor(month / 12)).padStart(4, "0");

	return year + dash + String(month % 12 + 1).padStart(2, "0");
}

/* The month that is `back` months before the one of a day: "202610". */
export const monthBefore = (day, back) =>
    keyOf(counted(day.slice(0, 7)) - back, "");

/*
 * The figures stand for this day, "2026-10-31", and sales are known since the
 * month "202411"; null: not known.
 */
export function periodOf({donneesAu, ventesDepuis}) {
	const before = until;

	until = donneesAu == null ? null : counted(donneesAu.slice(0, 7));
	since = ventesDepuis == null ? null : counted(ventesDepuis);
	if (until !== before)
		emit("period");
}

/* The same month a year before: "202610" or "2026-10". */
export const yearBefore = (key) =>
    keyOf(counted(key) - MONTHS, key.includes("-") ? "-" : "");

/* Whether sales are known of all months of that list. */
export const salesKnown = (keys) => since !== null &&
    keys.every((key) => counted(key) >= since);

/*
 * The keys of the twelve months, as those of `maps` are written: "202610" or
 * "2026-10". Where a map goes on longer, they end with its last month.
 */
export function monthKeys(...maps) {
	const keys = maps.flatMap((map) => Object.keys(map ?? {}));
	const last = Math.max(until ?? -1, ...keys.map(counted));
	const dash = keys[0]?.includes("-") ? "-" : "";

	return last < 0 ? [] : Array.from({length: MONTHS},
	    (_, i) => keyOf(last - MONTHS + 1 + i, dash));
}
