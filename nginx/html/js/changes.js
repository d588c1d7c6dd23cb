/*
 * changes: the bar at the foot: how many rows, how many changes wait, and
 * Save and Cancel for the selection; without one for the changes that the
 * filters show; where they show none, or there are no filters, for all of the
 * supplier.
 */
import {on} from "./bus.js";
import {el, icon} from "./dom.js";
import {decide} from "./decide.js";
import * as format from "./format.js";
import {answered} from "./deciding.js";
import {canRedo, canUndo, counted, plan, RANGES} from "./ranges.js";
import {mayDecide, tellReadOnly} from "./rights.js";
import {blockSums} from "./sums.js";
import {plural, t} from "./text.js";

/*
 * `grid` tells the selection; `acts` sets its range, and takes a step back, or
 * the last; `shown` promises the changed articles that the filters show, null for all.
 */
export function changesBar(grid, acts, shown) {
	const {undoStep} = acts;
	const totals = el("div.totals", {role: "status"});
	const counts = el("div.counts");
	const save = el("button.primary", {type: "button",
	    onclick: () => decideNow("save")});
	const cancel = el("button.cancel", {type: "button",
	    onclick: () => decideNow("cancel")});
	const back = el("button.ghost", {type: "button", title: t("undo"),
	    "aria-label": t("undo"), onclick: () => undoStep()},
	icon("undo"));
	const again = el("button.ghost.again", {type: "button", title: t("redo"),
	    "aria-label": t("redo"), onclick: acts.redoStep}, icon("redo"));
	/* In the place of the buttons where the user does not decide. */
	const readOnly = el("span.read-only", {role: "note", hidden: true,
	    title: t("read_only_why")}, icon("lock"), t("read_only"));
	const buttons = [back, again, cancel, save];
	const element = el("footer.foot", {}, totals, blockSums(grid, on), counts,
	    el("span.acts", {}, buttons, readOnly));
	/* For who has no keyboard: the letters as buttons. */
	const setRanges = el("span.part.set-chosen", {role: "group",
	    "aria-label": t("set_chosen")}, RANGES.map((gamme) =>
		el("button.small", {type: "button", title: t("set_range",
		    {gamme}), onclick: () => acts.setChosen(gamme)}, gamme)));
	let supplier = null;

	/* The changed articles that the filters show; null: all of them. */
	let within = null;
	let updates = 0;
	let looks = 0, looking = null; /* a promise while nobody knows */

	/* Map codein -> row; null when none is chosen. */
	const selection = () => {
		const rows = grid.chosen();

		return rows.size === 0 ? null : rows;
	};

	/* What Save and Cancel are about, and for which articles. */
	function scope() {
		const chosen = selection();

		if (chosen !== null)
			return {name: "selection", codeins: chosen};
		return within?.size > 0 ? {name: "shown", codeins: within} :
		    {name: "all", codeins: null};
	}

	const decides = () => supplier === null || mayDecide(supplier.code);

	async function decideNow(what) {
		if (!decides()) {
			tellReadOnly();
			return;
		}
		/* What is being decided is not decided again. */
		await answered();
		if (selection() === null)
			await looking;
		const {name, codeins} = scope();

		decide(what, plan(codeins && [...codeins.keys()]), {supplier, undoStep, scope: name});
	}

	/*
	 * Other filters, or other changes: which of them are shown? Where that
	 * cannot be had, the window says that it is about all.
	 */
	async function find(mine) {
		const codeins = await shown().catch(() => null);

		if (mine !== looks)
			return looking;
		within = codeins;
		looking = null;
		await update();
	}

	function look() {
		looking = find(++looks);
		update();
	}

	/* Only the newest count is shown. */
	async function update() {
		const {codeins} = scope(), asked = ++updates;
		const sums = await counted(codeins);

		if (asked === updates)
			draw(sums);
	}

	function draw({count, pending, mine}) {
		const chosen = selection(), {name} = scope();
		const waits = looking !== null && name !== "selection";
		const total = format.integer(mine + pending);
		const named = (what) => waits ? t(what, {n: "…", total}) :
		    plural(what, count, {total});
		const parts = [];

		if (chosen !== null)
			parts.push(el("span.part", {}, plural("count_selected",
			    chosen.size), el("button.link", {type: "button",
			    onclick: grid.clearSelection},
			t("clear_selection"))), decides() ? setRanges : "");
		if (pending > 0)
			parts.push(el("span.part.api", {},
			    plural("count_pending", pending)));
		if (mine > 0)
			parts.push(el("span.part.mine", {},
			    plural("count_mine", mine)));
		counts.replaceChildren(...parts);
		element.classList.toggle("with-chosen", chosen !== null);
		save.textContent = named(`save_${name}`);
		cancel.textContent = named(`cancel_${name}`);
		save.title = cancel.title = t(`scope_${name}`,
		    {name: supplier?.nom ?? supplier?.code ?? ""});
		save.disabled = cancel.disabled = waits || count === 0;
		readOnly.hidden = decides();
		for (const button of buttons)
			button.hidden = !decides();
		back.disabled = !canUndo();
		again.disabled = !canRedo();
	}

	on("ranges", look);
	on("selection", update);
	on("rights", update);
	return {
		element, update, look, decideNow,
		supplier(one) {
			supplier = one;
			update();
		},
		/* The figures beside the number of rows, in words. */
		figures: () => [...totals.children].slice(1)
		    .map(({textContent}) => textContent).join(" · "),
		/* Not for what is shown now: that is on its way. */
		outdated() {
			totals.classList.add("outdated");
		},
		totals(...parts) {
			totals.classList.remove("outdated");
			totals.replaceChildren(...parts.filter((part) => part)
			    .map((part) => el("span.part", {}, part)));
		},
	};
}
