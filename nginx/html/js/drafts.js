/*
 * drafts: edits that are not saved yet, kept in the browser for the same user
 * and supplier. A few are kept at once and with their labels; many in short
 * form, when the page has time.
 */
import {emit} from "./bus.js";
import {inSlices} from "./slices.js";
import {recall, remember} from "./store.js";

const FEW = 1000;
const SOON_MS = 250;
const RANGES = new Set(["A", "B", "C", "Y", "Z", null]);

let unkept = false; /* told once: closing the page would lose the edits */
let later = null; /* {name, edits, timer} that waits to be kept */

/* "codein gamme codeGamme gammeAValider", tabs between, "" for null. */
const line = ({codein, gamme, codeGamme, gammeAValider}) =>
    `${codein}\t${gamme ?? ""}\t${codeGamme ?? ""}\t${gammeAValider ?? ""}`;

/* Edits as text, made while keys are heard. */
export async function textOf(edits) {
	const lines = [];

	await inSlices(edits.values(), (one) => lines.push(line(one)));
	return lines.join("\n");
}

const asText = (edits) => [...edits.values()].map(line).join("\n");

/* What was kept, as far as it can be read: Map codein -> edit. */
export function recallEdits(name) {
	flush();
	const kept = recall(name, []);

	return typeof kept === "string" ? asEdits(kept) :
	    editsOf(Array.isArray(kept) ? kept : []);
}

/* The edits of a text, as far as it makes sense; there may be many. */
export function asEdits(text) {
	const edits = new Map();

	for (const one of text.split("\n")) {
		const [codein, gamme, codeGamme, gammeAValider] = one.split("\t");

		if (codein !== "" && RANGES.has(gamme || null))
			edits.set(codein, {codein, gamme: gamme || null,
			    codeGamme: codeGamme || null,
			    gammeAValider: gammeAValider || null});
	}
	return edits;
}

const editsOf = (pairs) => new Map(pairs.filter((one) =>
    typeof one?.[0] === "string" && RANGES.has(one[1]?.gamme))
    .map(([codein, one]) => [codein, {...one, codein}]));

function tell(kept, edits) {
	if (!kept && !unkept && edits.size > 0)
		emit("unkept");
	unkept = !kept && edits.size > 0;
}

function keepNow({name, edits}) {
	tell(remember(name, edits.size === 0 ? null : edits.size <= FEW ?
	    [...edits] : asText(edits)), edits);
}

function flush() {
	if (later === null)
		return;
	clearTimeout(later.timer);
	keepNow(later);
	later = null;
}

async function keepMany(mine) {
	const text = await textOf(mine.edits);

	/* Changed meanwhile: those that came later are kept instead. */
	if (mine !== later)
		return;
	later = null;
	tell(remember(mine.name, text), mine.edits);
}

export function keepEdits(name, edits) {
	if (later !== null && later.name !== name)
		flush();
	clearTimeout(later?.timer);
	later = {name, edits};
	if (edits.size <= FEW)
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
