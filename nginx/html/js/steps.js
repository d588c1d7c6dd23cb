/*
 * steps: what can be undone and redone of a supplier, kept in the tab while another
 * supplier is shown, and over a reload. An article that has changed meanwhile, in
 * another window or on another computer, is taken out of its steps.
 */
import {isSame} from "./merging.js";

const MOST = 5000; /* edits that are kept; older steps are left out */

const storeName = (name) => `grid.steps.${name}`;

const without = (steps, codeins) => steps.map((step) => ({...step,
    puts: step.puts.filter(([codein]) => !codeins.has(codein))}))
    .filter(({puts}) => puts.length > 0);

/* The newest steps that are short enough together. */
function fewOf(steps) {
	let count = 0, at = steps.length;

	while (at > 0 && count + steps[at - 1].puts.length <= MOST)
		count += steps[--at].puts.length;
	return steps.slice(at);
}

/* A browser that keeps nothing forgets the steps with the page. */
export function keepSteps(name, {history, undone}, edits) {
	const kept = {history: fewOf(history), undone: fewOf(undone)};
	const codeins = [...kept.history, ...kept.undone]
	    .flatMap(({puts}) => puts.map(([codein]) => codein));
	const now = [...new Set(codeins)]
	    .map((codein) => [codein, edits.get(codein) ?? null]);

	try {
		sessionStorage.setItem(storeName(name), JSON.stringify({...kept,
		    now, voided: kept.history.length < history.length}));
	} catch {
		sessionStorage.removeItem(storeName(name));
	}
}

/* {history, undone, voided}: voided says that a step is void meanwhile. */
export function recallSteps(name, edits) {
	const nothing = {history: [], undone: [], voided: false};

	try {
		const text = sessionStorage.getItem(storeName(name));
		const {now, history, undone, voided} = JSON.parse(text);
		const changed = new Set(now.filter(([codein, one]) =>
		    !isSame(one, edits.get(codein))).map(([codein]) => codein));
		const left = without(history, changed);

		return {history: left, undone: without(undone, changed),
		    voided: voided || left.length < history.length};
	} catch {
		return nothing;
	}
}
