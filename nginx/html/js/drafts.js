/*
 * drafts: edits that are not saved yet, kept in the browser for the same user
 * and supplier, with what they differ in from those on the server: see edits.js.
 * A few are kept at once and with their labels; many in short form, when the
 * page has time. All windows of the browser keep them in the same place.
 */
import {emit} from "./bus.js";
import {Edits} from "./edits.js";
import {inSlices} from "./slices.js";
import {recall, remember} from "./store.js";

const FEW = 1000;
const SOON_MS = 250;
const RANGES = new Set(["A", "B", "C", "Y", "Z", null]);

let unkept = false; /* told once: closing the page would lose the edits */
let later = null; /* {name, edits, timer} that waits to be kept */

/*
 * "codein gamme codeGamme gammeAValider", tabs between, "" for null; codein
 * alone for no edit.
 */
const line = ([codein, one]) => one === null ? codein :
    `${codein}\t${one.gamme ?? ""}\t${one.codeGamme ?? ""}\t` +
	(one.gammeAValider ?? "");

/* Edits as text, made while keys are heard. */
export async function textOf(edits) {
	const lines = [];

	await inSlices(edits, (pair) => lines.push(line(pair)));
	return lines.join("\n");
}

const asText = (edits) => Array.from(edits, line).join("\n");

function* pairsOf(text) {
	for (const one of text.split("\n")) {
		const [codein, gamme, codeGamme, gammeAValider] = one.split("\t");

		if (codein !== "" && RANGES.has(gamme || null))
			yield [codein, gamme === undefined ? null : {codein,
			    gamme: gamme || null, codeGamme: codeGamme || null,
			    gammeAValider: gammeAValider || null}];
	}
}

/* The edits of a text, as far as it makes sense; there may be many. */
export const asEdits = (text) => new Map(pairsOf(text).filter(
    ([, one]) => one !== null));

const isPair = (pair) => typeof pair?.[0] === "string" &&
    (pair[1] === null || RANGES.has(pair[1]?.gamme));

/* Pairs, or their text, as they were kept. */
const readPairs = (kept) => typeof kept === "string" ? [...pairsOf(kept)] :
    Array.isArray(kept) ? kept.filter(isPair).map(([codein, one]) =>
	[codein, one && {...one, codein}]) : [];

/* What was kept, as far as it can be read. */
export function recallEdits(name) {
	flush();
	const kept = recall(name);
	/* An earlier version of the page kept the edits alone. */
	const {version, edits: all, since} = Number.isSafeInteger(
	    kept?.version) ? kept : {version: 0, edits: kept};
	const edits = new Edits(readPairs(all).filter(
	    ([, one]) => one !== null));

	edits.version = version;
	edits.since = new Map(since === undefined ?
	    Array.from(edits.keys(), (codein) => [codein, null]) :
	    readPairs(since));
	return edits;
}

function tell(kept, edits) {
	if (!kept && !unkept && edits.size > 0)
		emit("unkept");
	unkept = !kept && edits.size > 0;
}

/* Nothing is kept where the server, too, knows of no edit. */
const isNothing = ({size, since, version}) => size === 0 &&
    since.size === 0 && version === 0;

function keepNow({name, edits}) {
	const few = edits.size + edits.since.size <= FEW;
	const form = (pairs) => few ? [...pairs] : asText(pairs);

	tell(remember(name, isNothing(edits) ? null :
	    {version: edits.version, edits: form(edits),
		since: form(edits.since)}), edits);
}

function flush() {
	if (later === null)
		return;
	clearTimeout(later.timer);
	keepNow(later);
	later = null;
}

async function keepMany(mine) {
	const {name, edits} = mine, {version} = edits;
	const text = await textOf(edits), since = await textOf(edits.since);

	/* Changed meanwhile: those that came later are kept instead. */
	if (mine !== later)
		return;
	later = null;
	tell(remember(name, {version, edits: text, since}), edits);
}

export function keepEdits(name, edits) {
	if (later !== null && later.name !== name)
		flush();
	clearTimeout(later?.timer);
	later = {name, edits};
	if (edits.size + edits.since.size <= FEW)
		flush();
	else
		later.timer = setTimeout(keepMany, SOON_MS, later);
}

addEventListener("pagehide", flush);
document.addEventListener("visibilitychange", flush);
addEventListener("beforeunload", (event) => {
	flush();
	if (unkept)
		event.preventDefault();
});
