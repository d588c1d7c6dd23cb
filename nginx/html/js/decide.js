/*
 * decide: Save and Cancel. A window says what will happen, in counts; what it
 * counted is what is sent. What someone else did meanwhile is told after.
 */
import {isBusy, isUnsure} from "./api.js";
import {emit} from "./bus.js";
import {chip} from "./cells.js";
import {columnName} from "./columns.js";
import {acts, inTurn} from "./deciding.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import * as format from "./format.js";
import {articleName} from "./labels.js";
import {tell} from "./notice.js";
import {canUndo, edit, lastDecision, lastStep, plan, setRange} from "./ranges.js";
import {plural, t} from "./text.js";

const LISTED = 50;

function part(name, list, kind) {
	if (list.length === 0)
		return null;
	return el(`li.${kind}`, {}, el("strong", {},
	    format.integer(list.length)), " ",
	plural(name, list.length));
}

function listRows({mine, pending}, supplier) {
	const all = [...mine.map((one) => [one, t("you")]),
	    ...pending.map((one) => [one, one.author])];
	const rows = all.slice(0, LISTED).map(([one, who]) => el("tr", {},
	    el("td", {}, articleName(supplier.code, one)),
	    el("td.nowrap", {}, keepsRange(one) ? t("kept_over",
		{gamme: one.codeGamme ?? "∅", proposed: one.gammeAValider}) :
		`${one.codeGamme ?? "∅"} → ${one.gamme ?? "∅"}`),
	    el("td.faint", {}, who)));

	if (all.length > LISTED)
		rows.push(el("tr", {}, el("td.faint", {colspan: 3},
		    plural("and_more", all.length - LISTED))));
	return rows;
}

/* Made when it is opened: labels may have to be asked for. */
function listOf(planned, supplier) {
	const body = el("tbody");

	return el("details", {ontoggle() {
		if (body.childElementCount === 0)
			body.replaceChildren(...listRows(planned, supplier));
	}}, el("summary", {}, t("detail")), el("table.plain", {}, body));
}

/* An edit back to the recorded range does no more than reject a proposal. */
const keepsRange = ({gamme, codeGamme, gammeAValider}) =>
    gamme === codeGamme && gammeAValider != null;

function explain(what, planned, {scope, supplier}) {
	const name = supplier.nom ?? supplier.code;
	const saves = what === "save";
	const kept = saves ? planned.mine.filter(keepsRange) : [];
	const keeps = new Set(kept.map(({codein}) => codein));
	const others = (list) => list.filter(({codein}) => !keeps.has(codein));

	return [
		el("p", {}, t(`scope_${scope}`, {name})),
		el("ul.parts", {},
		    part(`part_pending_${what}`, planned.pending, "api"),
		    part(`part_mine_${what}`, others(planned.mine), "mine"),
		    saves ? part("part_over", others(planned.over), "over") :
			null,
		    part("part_kept", kept, "over")),
		el("p.faint", {}, t("only_seen")),
		listOf(planned, supplier),
	];
}

const by = (name, author, at) => author && el("span.faint", {},
    t(name, {author, date: format.time(at)}));

/* What stands there now, by whom and since when, as far as it is known. */
function nowOf({result, codeGamme, savedBy, savedAt, gammeAValider, proposedBy,
    proposedAt}) {
	return [
		el("div.now", {}, chip(codeGamme),
		    by("saved_by", savedBy, savedAt)),
		gammeAValider && el("div.now", {},
		    el("span.proposal", {}, chip(gammeAValider, ".api")),
		    by("proposed_by", proposedBy, proposedAt)),
		result !== "conflict" && el("div.faint", {},
		    t(`result_${result}`)),
	].filter((part) => part);
}

function conflictRow(one, planned, supplier) {
	return el("tr", {},
	    el("th", {scope: "row"}, articleName(supplier.code, planned)),
	    el("td", {}, chip(planned.gamme, ".mine")),
	    el("td", {}, nowOf(one)));
}

/*
 * What becomes of the buyer's own edits that were in others' way: theirs stays,
 * or one's own is saved after all, each for all of them at once. Edits of
 * articles that are gone can only be dropped.
 */
function choices(edits, of, window) {
	const left = edits.filter(({result}) => result !== "unknown");

	if (edits.length === 0)
		return [];
	return [
		el("button", {type: "button", onclick() {
			window().close();
			setRange(edits, undefined);
			tell(plural("theirs_kept", edits.length),
			    {action: undoOf(lastStep(), of), about: "ranges"});
		}}, t(left.length === 0 ? "gone_drop" : "keep_theirs")),
		left.length > 0 && el("button", {type: "button", onclick() {
			window().close();
			decide("save", plan(left.map(({codein}) => codein)),
			    {...of, scope: "selection"});
		}}, t("save_mine")),
		el("button.primary", {type: "button",
		    onclick: () => window().close()}, t("decide_later")),
	].filter((button) => button);
}

const isMet = ({result}) => result !== "applied";

/* What was changed by others meanwhile: nothing of it was overwritten. */
function openConflicts(planned, results, of) {
	const conflicts = results.filter(isMet);
	const applied = results.length - conflicts.length;
	const byCode = new Map([...planned.mine, ...planned.pending]
	    .map((one) => [one.codein, one]));
	const left = conflicts.filter(({codein}) => edit(codein));
	const head = [columnName("libelle1"), t("wanted"), t("now")];
	const window = openDialog({
		title: plural("conflicts_title", conflicts.length),
		wide: true,
		content: [
			el("p", {}, t("conflicts_lead")),
			applied > 0 && el("p", {},
			    plural("conflict_saved", applied)),
			el("table.plain.conflicts", {},
			    el("thead", {}, el("tr", {}, head.map((text) =>
				el("th.nowrap", {scope: "col"}, text)))),
			    el("tbody", {}, conflicts.slice(0, LISTED)
				.map((one) => conflictRow(one,
				    byCode.get(one.codein), of.supplier)))),
			conflicts.length > LISTED && el("p.faint", {},
			    plural("and_more", conflicts.length - LISTED)),
			left.length > 0 && el("p", {},
			    plural("conflict_yours", left.length)),
		].filter((part) => part),
		actions: choices(left, of, () => window)});

	window.dialog.querySelector("footer .primary")?.focus();
}

/*
 * The same by a notice, where the buyer works in the grid by now: a window that
 * opens by itself would take the next key.
 */
function tellConflicts(planned, results, of) {
	tell(plural("conflicts_title", results.filter(isMet).length),
	    {error: true, action: {label: t("conflicts_see"),
		run: () => openConflicts(planned, results, of)}});
}

/* From what is shown to all of the supplier: another window, to look at. */
function widen(what, of, close) {
	const all = plan(null);

	return el("button.widen", {type: "button", onclick() {
		close();
		decide(what, all, {...of, scope: "all"});
	}}, t("scope_widen", {n: format.integer(all.count)}));
}

/* A notice's button that takes `step` back; it goes when that is void. */
export const undoOf = (step, {undoStep}) => step && {label: t("undo"),
    run: () => undoStep(step), isVoid: () => !canUndo(step)};

/*
 * What came of it; `words` tell that all is done, which is then true. Undo stays
 * possible for as long as its notice is read.
 */
function report(planned, results, of, words, show = tellConflicts) {
	const met = results.some(isMet);

	if (met)
		show(planned, results, of);
	else
		tell(words, {action: undoOf(lastDecision(), of),
		    about: "ranges"});
	return !met;
}

/*
 * Why it was not done, or not all of it: what is stored by now, in counts, and
 * what is left. To stand in an element.
 */
function notDone(what, planned, error) {
	const {stored = [], inDoubt = 0} = error;
	const applied = stored.filter(({result}) => result === "applied").length;
	const met = stored.length - applied;
	const unsure = isUnsure(error) ? inDoubt : 0;
	const left = planned.count - stored.length - unsure;

	if (stored.length === 0)
		return isUnsure(error) ? [t("unsure")] :
		    reasons(t(`${what}_failed`), error);
	return [el("span.stored", {}, [
		plural(`part_done_${what}`, applied),
		met > 0 && plural("part_met", met),
		unsure > 0 && plural("part_unsure", unsure),
		left > 0 && plural(`part_left_${what}`, left)]
	    .filter((one) => one).join(" ")), " ",
	...unsure > 0 ? [t("part_again")] :
	    isBusy(error) ? [t("part_busy")] : reasons("", error)];
}

/*
 * The same at once, for what a key decided; `words` tell that it is done. Promises
 * the step that takes it back, undefined when it is not done.
 */
export async function decideNow(what, planned, of, words) {
	try {
		if (report(planned, await acts[what](planned), of, words))
			return lastDecision();
	} catch (error) {
		tell(isUnsure(error) ? [t("unsure")] :
		    reasons(t(`${what}_failed`), error), {error: true});
	} finally {
		emit("decided");
	}
	return undefined;
}

/*
 * Save or Cancel what plan() made, `of` {supplier, scope, undoStep}: scope says
 * what it was made of, "selection", "shown" or "all"; undoStep takes a step back.
 */
export function decide(what, planned, of) {
	if (planned.count === 0)
		return;
	const problem = el("p.problem", {role: "alert"});
	const go = el(what === "save" ? "button.primary" : "button.danger",
	    {type: "button"}, t(`confirm_${what}`));
	const back = el("button", {type: "button",
	    onclick: () => window.close()}, t("go_back"));
	const window = openDialog({
		title: plural(`${what}_title`, planned.count),
		content: [...explain(what, planned, of), problem],
		actions: [of.scope === "shown" ? widen(what, of,
		    () => window.close()) : null, back, go]
		    .filter((one) => one !== null),
	});

	let stored = []; /* results of the tries before */

	(what === "save" ? go : back).focus();
	go.addEventListener("click", async () => {
		go.disabled = true;
		problem.textContent = t("saving");
		try {
			const results = await inTurn(null, () =>
			    acts[what](planned, stored));
			const isOpen = window.dialog.isConnected;

			window.close();
			report(planned, results, of, plural(what === "save" ?
			    "saved" : "canceled", planned.count), isOpen ?
			    openConflicts : tellConflicts);
			emit("decided");
		} catch (error) {
			/* It may have been done: ask for what is there now. */
			emit("decided");
			const why = notDone(what, planned, error);

			stored = error.stored ?? stored;
			if (stored.length > 0)
				go.textContent = t(`confirm_rest_${what}`, {
				    n: format.integer(planned.count -
					stored.length)});
			/* Who closed the window meanwhile is told as well. */
			if (window.dialog.isConnected)
				problem.replaceChildren(...why);
			else
				tell(why, {error: true});
			go.disabled = false;
			/* A button that was out of use has lost the focus. */
			if (document.activeElement === document.body ||
			    document.activeElement === window.dialog)
				go.focus();
		}
	});
}
