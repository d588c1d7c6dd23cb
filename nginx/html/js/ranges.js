/*
 * ranges: the changes of one supplier that are not saved yet: proposals that
 * came through the API, and the buyer's own edits laid over them.
 *
 * An edit remembers what the buyer saw when making it, so that the server can
 * tell whether someone else was faster. Edits are kept in the browser until
 * they are saved, for the same user and supplier.
 */
import {get, post} from "./api.js";
import {emit} from "./bus.js";
import {recall, remember} from "./store.js";

export const RANGES = ["A", "B", "C", "Y", "Z"];
const MOST_AT_ONCE = 5000;

let user = null, supplier = null;
let version = null;
let proposals = new Map(); /* codein -> {gamme, codeGamme, author, at} */
let edits = new Map(); /* codein -> {gamme, codeGamme, gammeAValider} */
let history = []; /* each: [[codein, edit before], …] */

export const proposal = (codein) => proposals.get(codein);
export const edit = (codein) => edits.get(codein);
export const pendingCount = () => proposals.size;
export const editCount = () => edits.size;
export const edited = () => [...edits.keys()];
export const changed = () =>
    [...new Set([...proposals.keys(), ...edits.keys()])];

const draftName = () => `drafts.${user}.${supplier}`;

function keep() {
	remember(draftName(), edits.size === 0 ? null : [...edits]);
	emit("ranges");
}

/* Forgets the one before; returns how many drafts were found again. */
export function openRanges(userName, code) {
	user = userName;
	supplier = code;
	version = null;
	proposals = new Map();
	edits = new Map(recall(draftName(), []));
	history = [];
	emit("ranges");
	return edits.size;
}

/* Asks for the proposals; true when something changed since. */
export async function refreshPending(signal) {
	const asked = supplier;
	const answer = await get("/app/pending", {fournisseur: asked},
	    {signal});

	if (asked !== supplier || answer.meta.version === version)
		return false;
	const first = version === null;

	version = answer.meta.version;
	proposals = new Map(answer.data.map((one) => [one.codein, one]));
	emit("ranges");
	return !first || proposals.size > 0;
}

/* --- the buyer's own edits --------------------------------------------- */

/* What an edit to `gamme` would be, or null when there is nothing to edit. */
function editOf(row, gamme) {
	const pending = proposals.get(row.codein)?.gamme ?? null;

	if (gamme === (pending ?? row.codeGamme))
		return null;
	return {gamme, codeGamme: row.codeGamme ?? null,
	    gammeAValider: pending, libelle1: row.libelle1};
}

function put(codein, one) {
	if (one == null)
		edits.delete(codein);
	else
		edits.set(codein, one);
}

/* `gamme` undefined drops the edits of the rows. Returns how many changed. */
export function setRange(rows, gamme) {
	const before = [];

	for (const row of rows) {
		const had = edits.get(row.codein);
		const one = gamme === undefined ? null : editOf(row, gamme);

		if (had?.gamme === one?.gamme)
			continue;
		before.push([row.codein, had]);
		put(row.codein, one);
	}
	if (before.length > 0) {
		history.push(before);
		keep();
	}
	return before.length;
}

export function undo() {
	const before = history.pop();

	if (before === undefined)
		return false;
	for (const [codein, one] of before)
		put(codein, one);
	keep();
	return true;
}

/* --- Save and Cancel ---------------------------------------------------- */

/*
 * What Save or Cancel would do for these articles, or for all: frozen, so that
 * what is counted before a person is what is sent. A proposal below an edit is
 * rejected when the edit is saved.
 */
export function plan(codeins) {
	const concerned = codeins ?? changed();
	const mine = [], pending = [], over = [];

	for (const codein of concerned) {
		const one = edits.get(codein), proposed = proposals.get(codein);

		if (one)
			mine.push({codein, ...one});
		if (one && proposed)
			over.push({codein, ...proposed});
		if (!one && proposed)
			pending.push({codein, ...proposed});
	}
	return {mine, pending, over, count: mine.length + pending.length};
}

const seen = ({codein, gamme, codeGamme}) => ({codein, gamme, codeGamme});
const seenEdit = ({codein, gamme, codeGamme, gammeAValider}) =>
    ({codein, gamme, codeGamme, gammeAValider});

function* portions(list) {
	for (let at = 0; at < list.length; at += MOST_AT_ONCE)
		yield list.slice(at, at + MOST_AT_ONCE);
}

async function send(path, body) {
	const {data} = await post(path, {fournisseur: supplier, ...body});

	return data;
}

/* An edit that met another's change stays, with what is recorded now. */
function settle(results) {
	for (const result of results) {
		const one = edits.get(result.codein);

		if (one === undefined)
			continue;
		if (result.result === "applied")
			edits.delete(result.codein);
		else
			edits.set(result.codein, {...one, conflict: true,
			    codeGamme: result.codeGamme,
			    gammeAValider: result.gammeAValider});
	}
	history = [];
	keep();
}

/* Each answers the items' results, in the server's words. */
export async function save({mine, pending}) {
	const results = [];

	for (const part of portions(pending))
		results.push(...await send("/app/save",
		    {proposals: part.map(seen)}));
	for (const part of portions(mine)) {
		const settled = await send("/app/save",
		    {edits: part.map(seenEdit)});

		settle(settled);
		results.push(...settled);
	}
	await refreshPending();
	return results;
}

export async function cancel({mine, pending}) {
	const results = [];

	for (const part of portions(pending))
		results.push(...await send("/app/cancel",
		    {proposals: part.map(seen)}));
	setRange(mine, undefined);
	await refreshPending();
	return results;
}
