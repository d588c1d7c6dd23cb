/*
 * polls: what the page asks of its own, again and again, is left out where a check
 * says who is to meet the end of a session: the next of these questions may come
 * between any two steps, and find it out first.
 */
import {rowsDrawn} from "./kit.mjs";

const LONGEST_MS = 10000; /* of what shows something, each second or so */

export async function withoutPolls(page) {
	await page.context().addInitScript((longest) => {
		const every = window.setInterval;

		window.setInterval = (run, wait, ...words) => wait > longest ? 0 :
		    every.call(window, run, wait, ...words);
	}, LONGEST_MS);
	await page.reload();
	await rowsDrawn(page);
}
