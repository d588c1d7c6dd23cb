/*
 * decide: Save and Cancel. A window says what will happen, in counts; what it
 * counted is what is sent. What someone else did meanwhile is told after.
 */
import {isUnsure} from "./api.js";
import {emit} from "./bus.js";
import {columnName} from "./columns.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import * as format from "./format.js";
import {articleName} from "./labels.js";
import {tell} from "./notice.js";
import {cancel, lastStep, save} from "./ranges.js";
import {plural, t} from "./text.js";

const LISTED = 50;
const acts = {save, cancel};

function part(name, list, kind) {
	if (list.length === 0)
		return null;
	return el(`li.${kind}`, {}, el("strong", {},
	    format.integer(list.length)), " ",
	t(list.length === 1 ? name + "_1" : name));
}

function listRows({mine, pending}, supplier) {
	const all = [...mine.map((one) => [one, t("you")]),
	    ...pending.map((one) => [one, one.author])];
	const rows = all.slice(0, LISTED).map(([one, who]) => el("tr", {},
	    el("td", {}, articleName(supplier.code, one)),
	    el("td.nowrap", {}, `${one.codeGamme ?? "∅"} → ${one.gamme ?? "∅"}`),
	    el("td.faint", {}, who)));

	if (all.length > LISTED)
		rows.push(el("tr", {}, el("td.faint", {colspan: 3},
		    t("and_more", {n: format.integer(all.length - LISTED)}))));
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

function explain(what, planned, bySelection, supplier) {
	const name = supplier.nom ?? supplier.code;

	return [
		el("p", {}, bySelection ? t("scope_selection") :
		    t("scope_all", {name})),
		el("ul.parts", {},
		    part(`part_pending_${what}`, planned.pending, "api"),
		    part(`part_mine_${what}`, planned.mine, "mine"),
		    what === "save" ? part("part_over", planned.over, "over") :
			null),
		el("p.faint", {}, t("only_seen")),
		listOf(planned, supplier),
	];
}

function conflictRow(one, planned, supplier) {
	const also = one.gammeAValider == null ? "" :
	    ` (${t("also_proposed", {gamme: one.gammeAValider})})`;

	return el("tr", {},
	    el("th", {scope: "row"}, articleName(supplier.code, planned)),
	    el("td", {}, planned.gamme ?? "∅"),
	    el("td", {}, (one.codeGamme ?? "∅") + also),
	    el("td", {}, t(`result_${one.result}`)));
}

/* What was changed by others meanwhile: nothing of it was overwritten. */
function tellConflicts(planned, results, supplier) {
	const conflicts = results.filter(({result}) => result !== "applied");
	const applied = results.length - conflicts.length;
	const byCode = new Map([...planned.mine, ...planned.pending]
	    .map((one) => [one.codein, one]));
	const head = [columnName("libelle1"), t("wanted"), t("now"),
	    t("what_happened")];

	openDialog({title: plural("conflicts_title", conflicts.length),
	    wide: true, content: [el("p", {}, t("conflicts_lead")),
		applied > 0 ? el("p", {}, plural("conflict_saved", applied)) :
		    null,
		el("table.plain", {},
		    el("thead", {}, el("tr", {}, head.map((text) =>
			el("th", {scope: "col"}, text)))),
		    el("tbody", {}, conflicts.slice(0, LISTED).map((one) =>
			conflictRow(one, byCode.get(one.codein), supplier)))),
		conflicts.length > LISTED ? el("p.faint", {}, t("and_more",
		    {n: format.integer(conflicts.length - LISTED)})) : null]});
}

/* Undo stays possible for as long as its notice is read. */
function report(what, planned, results, {supplier, undoStep}) {
	const lost = results.filter(({result}) => result !== "applied").length;
	const step = lastStep();

	if (lost > 0)
		tellConflicts(planned, results, supplier);
	else
		tell(plural(what === "save" ? "saved" : "canceled",
		    planned.count), {action: step && {label: t("undo"),
		    run: () => undoStep(step)}});
}

/*
 * Save or Cancel what plan() made, `of` {supplier, bySelection, undoStep}: the
 * last one takes a step back.
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
		content: [...explain(what, planned, of.bySelection,
		    of.supplier), problem],
		actions: [back, go],
	});

	(what === "save" ? go : back).focus();
	/* The key that opened the window, still held, does not answer it. */
	go.addEventListener("keydown", (event) => {
		if (event.repeat)
			event.preventDefault();
	});
	go.addEventListener("click", async () => {
		go.disabled = true;
		problem.textContent = t("saving");
		try {
			const results = await acts[what](planned);

			window.close();
			report(what, planned, results, of);
			emit("decided");
		} catch (error) {
			/* It may have been done: ask for what is there now. */
			emit("decided");
			problem.textContent = isUnsure(error) ? t("unsure") :
			    t("failed", {why: error.message});
			go.disabled = false;
		}
	});
}
