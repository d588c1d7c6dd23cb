/*
 * ranges: the changes of one supplier that are not saved yet: proposals that
 * came through the API, and the buyer's own edits laid over them.
 *
 * An edit remembers what the buyer saw when making it, so that the server can
 * tell whether someone else was faster. Edits are kept in the browser until
 * they are saved, for the same user and supplier: see drafts.js. There may be as
 * many as a supplier has articles, so that long lists are worked through in
 * slices.
 */
import {ApiError, get, post} from "./api.js";
import {emit} from "./bus.js";
import {asEdits, keepEdits, recallEdits, textOf} from "./drafts.js";
import {Edits} from "./edits.js";
import {forgetRecorded, moment, noteRecorded} from "./fresh.js";
import {isSame} from "./merging.js";
import {sharedDrafts} from "./shareddrafts.js";
import {inSlices, rest} from "./slices.js";
import {keepSteps, recallSteps} from "./steps.js";
import {otherWindows} from "./windows.js";

export const RANGES = ["A", "B", "C", "Y", "Z"];
const MOST_AT_ONCE = 5000;

let user = null, supplier = null;
let version = null;
let proposals = new Map(); /* codein -> {codein, gamme, codeGamme, author, at} */
let knownAt = 0; /* when the proposals were asked for */
let edits = new Edits(); /* others for each supplier that is shown */
/* Each {puts: [[codein, edit to come back], …], decided, place}, the newest last. */
let history = [], undone = [];
let places = 0; /* steps of the buyer so far */
let voided = false; /* the newest steps are void: others changed the articles */
let decision; /* of them the newest Save or Cancel, if it can be undone */

export const proposal = (codein) => proposals.get(codein);
export const edit = (codein) => edits.get(codein);
export const pendingCount = () => proposals.size;
export const editCount = () => edits.size;
export const edited = () => [...edits];
export const canUndo = (step = history.at(-1)) => history.includes(step);
/* Whether there were steps that can be undone no more. */
export const isVoid = () => voided;
export const canRedo = () => undone.length > 0;

/* The articles that have a proposal or an edit. */
export function* changed() {
	yield* proposals.keys();
	for (const codein of edits.keys())
		if (!proposals.has(codein))
			yield codein;
}

const draftName = () => `drafts.${user}.${supplier}`;

/* A step does not take back what another window has changed since. */
function forgetSteps(codeins) {
	for (const step of [...history, ...undone])
		step.puts = step.puts.filter(([codein]) =>
		    !codeins.has(codein));
	const left = history.filter(({puts}) => puts.length > 0);

	voided ||= left.length < history.length;
	history = left;
	undone = undone.filter(({puts}) => puts.length > 0);
}

/*
 * Articles that two windows have changed, as merge() tells them: turnOver()
 * takes the edits that do not stand, canTurn() says whether one still can.
 */
function otherWay(met) {
	const list = edits;
	const stands = ({codein, now}) => isSame(list.get(codein), now);

	return {
		met,
		canTurn: () => list === edits && met.some(stands),
		turnOver() {
			const left = met.filter(stands);
			const puts = left.map(({codein, now}) => [codein, now]);

			for (const {codein, mine, theirs, now} of left)
				list.put(codein, isSame(now, mine) ? theirs :
				    mine);
			done(puts);
		},
	};
}

/* What has come from another window is in the edits. */
function merged({taken, met, again = false}) {
	const news = [...taken, ...met];

	forgetSteps(new Set(news.map(({codein}) => codein)));
	keepEdits(draftName(), edits);
	if (news.length === 0)
		return;
	emit("ranges");
	emit("merged", {taken, again, ...otherWay(met)});
}

const shared = sharedDrafts({textOf, asEdits, merged,
    now: () => ({user, supplier, edits}),
    agreed: () => keepEdits(draftName(), edits)});

const tellWindows = otherWindows((of, puts, yields) => {
	if (of !== draftName())
		return;
	merged(edits.hear(puts, yields));
	shared.heard();
});

/* `puts` are [codein, edit before] of what has changed. */
function keep(puts) {
	keepEdits(draftName(), edits);
	tellWindows(draftName(), puts, edits);
	shared.changed();
	emit("ranges");
}

/* Whether another window of the buyer has changed the edits. */
export const lookForEdits = shared.look;

/* What can be undone of the supplier that is left, or when the page goes. */
function leave() {
	if (supplier !== null)
		keepSteps(draftName(), {history, undone}, edits);
}

addEventListener("pagehide", leave);

/* Leaves the one before; returns how many drafts were found again. */
export function openRanges(userName, code) {
	leave();
	user = userName;
	supplier = code;
	version = null;
	proposals = new Map();
	knownAt = moment();
	edits = recallEdits(draftName());
	({history, undone, voided} = recallSteps(draftName(), edits));
	for (const step of history)
		step.place = 0;
	decision = undefined;
	forgetRecorded();
	emit("ranges");
	return edits.size;
}

/* Asks for the proposals; true when something changed since. */
export async function refreshPending(signal) {
	const code = supplier, asked = moment();
	const answer = await get("/app/pending", {fournisseur: code},
	    {signal});

	/* One that was asked for before is older, whenever it comes. */
	if (code !== supplier || asked < knownAt ||
	    answer.meta.version === version)
		return false;
	const first = version === null;

	knownAt = asked;
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
	return {codein: row.codein, gamme, codeGamme: row.codeGamme ?? null,
	    gammeAValider: pending, libelle1: row.libelle1};
}

/* The range that stands at a row: one's own, a proposed one, the recorded. */
export const standing = (row) => (edits.get(row.codein) ??
    proposals.get(row.codein) ?? {gamme: row.codeGamme}).gamme ?? null;

/* Before the steps that the buyer took after it, while its answer was awaited. */
function note(step) {
	const later = history.findIndex(({place}) => place > step.place);

	history.splice(later < 0 ? history.length : later, 0, step);
}

function done(puts) {
	if (puts.length === 0)
		return;
	note({puts, decided: false, place: ++places});
	undone = [];
	voided = false;
	keep(puts);
}

/* Sets one row; notes in `puts` what was there. */
function setOne(list, puts, row, gamme) {
	const had = list.get(row.codein);
	const one = gamme === undefined ? null : editOf(row, gamme);

	if (had?.gamme === one?.gamme)
		return;
	puts.push([row.codein, had]);
	list.put(row.codein, one);
}

/* `gamme` undefined drops the edits of the rows. Returns how many changed. */
export function setRange(rows, gamme) {
	const puts = [];

	for (const row of rows)
		setOne(edits, puts, row, gamme);
	done(puts);
	return puts.length;
}

/* The same of many [row, gamme]; `progress` hears how many are done. */
export async function setMany(pairs, progress) {
	const puts = [], list = edits;

	await inSlices(pairs, ([row, gamme]) =>
	    setOne(list, puts, row, gamme), progress);
	await rest();
	if (list === edits)
		done(puts);
	return puts.length;
}

/*
 * What setMany() would do: {changes, same, over, from}: rows that get another
 * range, rows that have it, proposals that an edit would replace, and Map of
 * the ranges that change, to how many.
 */
export async function foresee(pairs) {
	const seen = {changes: 0, same: 0, over: 0, from: new Map()};

	await inSlices(pairs, ([row, gamme]) => {
		const now = standing(row);

		if (gamme === undefined ? !edits.has(row.codein) :
		    now === gamme) {
			seen.same++;
			return;
		}
		seen.changes++;
		seen.from.set(now, (seen.from.get(now) ?? 0) + 1);
		if (proposals.has(row.codein) && !edits.has(row.codein))
			seen.over++;
	});
	return seen;
}

/* --- back and forth ------------------------------------------------------ */

/* What undo() would take back: a handle for doing it later. */
export const lastStep = () => history.at(-1);
export const lastDecision = () => decision;

/* Does what `step` holds; returns what takes that back. */
async function turn(step) {
	const puts = [], list = edits;

	await inSlices(step.puts, ([codein, one]) => {
		puts.push([codein, list.get(codein)]);
		list.put(codein, one);
	});
	return list === edits ? {...step, puts} : undefined;
}

/*
 * Takes `step` back, the newest one unless another is named; promises it, or
 * undefined when there is none. What was saved or cancelled comes back as the
 * buyer's own edits, to be saved again.
 */
export async function undo(step = history.at(-1)) {
	if (!history.includes(step))
		return undefined;
	history = history.filter((one) => one !== step);
	const back = await turn(step);

	if (back === undefined)
		return undefined;
	undone.push(back);
	keep(back.puts);
	return step;
}

/* The last step that was taken back, once more. */
export async function redo() {
	const step = undone.pop();
	const back = step && await turn(step);

	if (back === undefined)
		return undefined;
	note({...back, place: ++places});
	keep(back.puts);
	return step;
}

/* --- Save and Cancel ---------------------------------------------------- */

/*
 * Promises how many changes there are in all, and of the articles of a Set or
 * Map, null for all.
 */
export async function counted(codeins) {
	let waiting = 0, count = 0;

	await inSlices(proposals.keys(), (codein) => {
		const waits = !edits.has(codein);

		waiting += waits;
		count += waits && (codeins?.has(codein) ?? true);
	});
	if (codeins === null)
		count += edits.size;
	else
		await inSlices(edits.keys(), (codein) => {
			count += codeins.has(codein);
		});
	return {mine: edits.size, pending: waiting, count};
}

/*
 * What Save or Cancel would do for these articles, or for all: frozen, so that
 * what is counted before a person is what is sent. A proposal below an edit is
 * rejected when the edit is saved.
 */
export function plan(codeins) {
	const concerned = codeins ?? [...changed()];
	const mine = [], pending = [], over = [];

	for (const codein of concerned) {
		const one = edits.get(codein), proposed = proposals.get(codein);

		if (one)
			mine.push(one);
		if (one && proposed)
			over.push(proposed);
		if (!one && proposed)
			pending.push(proposed);
	}
	return {supplier, mine, pending, over,
	    count: mine.length + pending.length};
}

const seen = ({codein, gamme, codeGamme}) => ({codein, gamme, codeGamme});
const seenEdit = ({codein, gamme, codeGamme, gammeAValider}) =>
    ({codein, gamme, codeGamme, gammeAValider});

function* portions(list) {
	for (let at = 0; at < list.length; at += MOST_AT_ONCE)
		yield list.slice(at, at + MOST_AT_ONCE);
}

/* What an answer says of proposals is newer than those that are known. */
function settleProposals(items) {
	knownAt = moment();
	for (const {codein, codeGamme, gammeAValider, proposedBy, proposedAt}
	    of items)
		if (gammeAValider === null)
			proposals.delete(codein);
		else
			proposals.set(codein, {codein, gamme: gammeAValider,
			    codeGamme, author: proposedBy, at: proposedAt});
}

async function send(path, code, body) {
	const {data} = await post(path, {fournisseur: code, ...body});

	if (code === supplier) {
		settleProposals(data);
		noteRecorded(data);
	}
	return data;
}

/* The same, and the articles that the supplier has no more are told apart. */
async function sendEdits(code, list) {
	try {
		return await send("/app/save", code,
		    {edits: list.map(seenEdit)});
	} catch (error) {
		const gone = new Set(error instanceof ApiError &&
		    error.status === 404 ? error.details.inconnus : []);
		const left = list.filter(({codein}) => !gone.has(codein));

		if (gone.size === 0)
			throw error;
		return [...left.length > 0 ? await sendEdits(code, left) : [],
		    ...[...gone].map((codein) => ({codein, result: "unknown",
			codeGamme: null, gammeAValider: null}))];
	}
}

/*
 * Who finds done what was to be done met no conflict: someone else had the same
 * in mind, or the answer to an earlier try was lost on the way.
 */
function agree(items, results, wanted) {
	const byCode = new Map(items.map((one) => [one.codein, one]));

	return results.map((result) => {
		const done = ["conflict", "absent"].includes(result.result) &&
		    result.gammeAValider === null &&
		    result.codeGamme === wanted(byCode.get(result.codein));

		return done ? {...result, result: "applied"} : result;
	});
}

/*
 * An edit that met another's change stays, with what is recorded now; so does
 * one that was made, here or in another window, while this was being decided.
 */
function settle(code, results) {
	const puts = [];

	for (const {codein, result, codeGamme, gammeAValider} of results) {
		const one = edits.get(codein);
		const applied = result === "applied";

		if (code !== supplier || one === undefined)
			continue;
		puts.push([codein, one]);
		edits.put(codein, applied && gammeAValider === null &&
		    one.gamme === codeGamme ? null : {...one,
			conflict: !applied, codeGamme, gammeAValider});
	}
	if (puts.length > 0)
		keep(puts);
	return results;
}

/* The edits that bring `to` back for what was applied. */
function bringBack(items, results, to) {
	const byCode = new Map(items.map((one) => [one.codein, one]));

	return results.filter(({result}) => result === "applied")
	    .map((now) => [byCode.get(now.codein), now])
	    .filter(([one, now]) => to(one) !== now.codeGamme &&
		(to(one) !== null || now.codeGammeServeur === null))
	    .map(([one, now]) => [one.codein, {codein: one.codein,
		gamme: to(one), codeGamme: now.codeGamme, gammeAValider: now.gammeAValider,
		libelle1: one.libelle1}]);
}

/*
 * What was decided can be taken back; what was edited before it no more, of the
 * same articles.
 */
function begin(codeins, puts, place) {
	forgetSteps(new Set(codeins));
	decision = puts.length > 0 ? {puts, decided: true, place} : undefined;
	if (decision !== undefined)
		note(decision);
	voided = false;
	undone = [];
	emit("ranges");
}

const newRange = ({gamme}) => gamme;
const oldRange = ({codeGamme}) => codeGamme;

/*
 * Runs `send` for each portion of `list`, and adds its results to `results`. An
 * error gets `stored`, all results until then, and `inDoubt`, the number of
 * items under way.
 */
async function inPortions(list, results, send_) {
	const known = new Set(results.map(({codein}) => codein));
	const left = list.filter(({codein}) => !known.has(codein));

	for (const part of portions(left))
		try {
			results.push(...await send_(part));
		} catch (error) {
			throw Object.assign(error, {stored: results,
			    inDoubt: part.length});
		}
}

/* The step that takes back what `results` have done of the items. */
function endDecision(code, puts, results, place) {
	if (code === supplier && results.length > 0)
		begin(results.map(({codein}) => codein), puts(), place);
}

/*
 * Each answers the items' results, in the server's words. `earlier` are the
 * results that a try before has got: those items are not sent again.
 */
export async function save({supplier: code, mine, pending}, earlier = []) {
	const results = [...earlier], place = ++places;

	try {
		await inPortions(pending, results, async (part) => settle(code,
		    agree(part, await send("/app/save", code,
			{proposals: part.map(seen)}), newRange)));
		await inPortions(mine, results, async (part) => settle(code,
		    agree(part, await sendEdits(code, part), newRange)));
	} finally {
		endDecision(code, () => bringBack([...mine, ...pending],
		    results, oldRange), results, place);
	}
	return results;
}

export async function cancel({supplier: code, mine, pending}, earlier = []) {
	const results = [...earlier], place = ++places;

	try {
		await inPortions(pending, results, async (part) => settle(code,
		    agree(part, await send("/app/cancel", code,
			{proposals: part.map(seen)}), oldRange)));
	} catch (error) {
		endDecision(code, () => bringBack(pending, results, newRange),
		    results, place);
		throw error;
	}
	if (code === supplier) {
		const puts = mine.map(({codein, gamme}) =>
		    [codein, edits.get(codein), gamme])
		    .filter(([, one, gamme]) => one?.gamme === gamme);

		for (const [codein] of puts)
			edits.put(codein, null);
		keep(puts);
		begin([...mine, ...pending].map(({codein}) => codein),
		    [...mine.map((one) => [one.codein, one]),
			...bringBack(pending, results, newRange)], place);
	}
	return results;
}
