/*
 * deciding: Save and Cancel under way. What the buyer decides of an article before
 * the answer to an earlier decision has come waits for it: the buyer meets no
 * change of one's own.
 */
import {cancel, save} from "./ranges.js";

export const acts = {save, cancel};

const underWay = new Set(); /* {codein: null for many articles, done} */

/*
 * Runs `run`, which decides of one article, or of many where `codein` is null,
 * behind the decisions under way that it may meet.
 */
export function inTurn(codein, run) {
	const before = [...underWay].filter((one) => codein === null ||
	    one.codein === null || one.codein === codein);
	const done = Promise.allSettled(before.map((one) => one.done)).then(run);
	const turn = {codein, done};

	underWay.add(turn);
	return done.finally(() => underWay.delete(turn));
}

/* Resolves once what is under way now is answered, well or not. */
export const answered = () =>
    Promise.allSettled([...underWay].map((one) => one.done));
