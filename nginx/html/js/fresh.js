/*
 * fresh: what was recorded since a row was asked for. The answer to a Save is
 * newer than each row whose question went out before it came, in whatever order
 * they arrive: it is laid over them.
 */
import {emit} from "./bus.js";

let clock = 0;
let recorded = new Map(); /* codein -> {at, ranges} */

/* A point in time, after all that were given before. */
export const moment = () => ++clock;

/* Another supplier's articles may have the same codes. */
export function forgetRecorded() {
	recorded = new Map();
}

/* Items of an answer to Save or Cancel: as things stand from now on. */
export function noteRecorded(items) {
	const at = moment();
	const now = new Map(items.map(({codein, codeGamme,
	    codeGammeServeur}) => [codein, {codeGamme, codeGammeServeur}]));

	for (const [codein, ranges] of now)
		recorded.set(codein, {at, ranges});
	emit("recorded", now);
}

/* Rows whose question went out at `asked`. */
export function freshen(rows, asked) {
	for (const row of rows) {
		const one = recorded.get(row.codein);

		if (one?.at > asked)
			Object.assign(row, one.ranges);
	}
}
