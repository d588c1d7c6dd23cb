/*
 * changes: the bar at the foot: how many rows, how many changes wait, and
 * Save and Cancel for the selection, or for all when nothing is selected.
 */
import {on} from "./bus.js";
import {el, icon} from "./dom.js";
import {decide} from "./decide.js";
import {canUndo, plan} from "./ranges.js";
import {plural, t} from "./text.js";
import * as format from "./format.js";

/* `grid` tells the selection; `undoStep` takes back a step, or the last. */
export function changesBar(grid, undoStep) {
	const totals = el("div.totals", {role: "status"});
	const counts = el("div.counts");
	const save = el("button.primary", {type: "button",
	    onclick: () => decideNow("save")});
	const cancel = el("button", {type: "button",
	    onclick: () => decideNow("cancel")});
	const back = el("button.ghost", {type: "button", title: t("undo"),
	    "aria-label": t("undo"), onclick: () => undoStep()},
	icon("undo"));
	const element = el("footer.foot", {}, totals, counts, back, cancel, save);
	let supplier = null;

	const selection = () => {
		const rows = grid.selectedRows();

		return rows.length === 0 ? null :
		    rows.map(({codein}) => codein);
	};

	function decideNow(what) {
		decide(what, plan(selection()), {supplier, undoStep,
		    bySelection: selection() !== null});
	}

	function update() {
		const chosen = selection();
		const {count} = plan(chosen), all = plan(null);
		const parts = [];

		if (chosen !== null)
			parts.push(el("span.part", {}, plural("count_selected",
			    chosen.length), el("button.link", {type: "button",
			    onclick: grid.clearSelection},
			t("clear_selection"))));
		if (all.pending.length > 0)
			parts.push(el("span.part.api", {},
			    plural("count_pending", all.pending.length)));
		if (all.mine.length > 0)
			parts.push(el("span.part.mine", {},
			    plural("count_mine", all.mine.length)));
		counts.replaceChildren(...parts);
		save.textContent = t("save_n", {n: format.integer(count)});
		cancel.textContent = t("cancel_n", {n: format.integer(count)});
		save.disabled = cancel.disabled = count === 0;
		back.disabled = !canUndo();
	}

	on("ranges", update);
	on("selection", update);
	return {
		element, update, decideNow,
		supplier(one) {
			supplier = one;
			update();
		},
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
