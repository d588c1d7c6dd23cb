/*
 * widths: columns take what a wide screen leaves, the label first, unless the
 * buyer has set their width.
 */
import {column} from "./columns.js";

const LONGEST_LABEL = 480;
const MOST_SPREAD = 0.75; /* of a column's usual width */

/* Map of a column's name to its width in a room of so many pixels. */
export function widened(shown, room) {
	const usual = shown.map(({name}) => [name, column(name).width]);
	const own = new Map(shown.map(({name, width}) => [name, width]));
	const free = usual.filter(([name, width]) =>
	    own.get(name) == null || own.get(name) === width);
	const widths = new Map(free);
	let left = room - usual.reduce((sum, [name, width]) =>
	    sum + (own.get(name) ?? width), 0);

	if (widths.has("libelle1")) {
		const most = Math.max(widths.get("libelle1"), LONGEST_LABEL);
		const width = Math.min(most, Math.max(0, left) +
		    widths.get("libelle1"));

		left -= width - widths.get("libelle1");
		widths.set("libelle1", Math.floor(width));
	}
	const others = free.filter(([name]) => name !== "libelle1");
	const sum = others.reduce((all, [, width]) => all + width, 0);
	const spread = Math.min(Math.max(left, 0) / Math.max(sum, 1),
	    MOST_SPREAD);

	for (const [name, width] of others)
		widths.set(name, Math.floor(width * (1 + spread)));
	return widths;
}
