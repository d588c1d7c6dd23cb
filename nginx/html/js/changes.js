/*
 * changes: the bar at the foot: how many rows, how many changes wait, and
 * Save and Cancel for the selection, or for all when nothing is selected.
 */
import {on} from "./bus.js";
import {el, icon} from "./dom.js";
import {decide} from "./decide.js";
import {editCount, pendingCount, plan} from "./ranges.js";
import {plural, t} from "./text.js";
import * as format from "./format.js";

/* `grid` tells the selection; `undoLast` takes back the last edit. */
export function changesBar(grid, undoLast) {
	const totals = el("div.totals", {role: "status"});
	const counts = el("div.counts");
	const save = el("button.primary", {type: "button",
	    onclick: () => decideNow("save")});
	const cancel = el("button", {type: "button",
	    onclick: () => decideNow("cancel")});
	const back = el("button.ghost", {type: "button", title: t("undo"),
	    "aria-label": t("undo"), onclick: undoLast}, icon("undo"));
	const element = el("footer.foot", {}, totals, counts, back, cancel, save);
	let supplier = null;

	const selection = () => {
		const rows = grid.selectedRows();

		return rows.length === 0 ? null :
		    rows.map(({codein}) => codein);
	};

	function decideNow(what) {
		decide(what, plan(selection()), selection() !== null, supplier);
	}

	function update() {
		const chosen = selection();
		const {count} = plan(chosen);
		const parts = [];

		if (chosen !== null)
			parts.push(el("span.part", {}, plural("count_selected",
			    chosen.length), el("button.link", {type: "button",
			    onclick: grid.clearSelection},
			t("clear_selection"))));
		if (pendingCount() > 0)
			parts.push(el("span.part.api", {},
			    plural("count_pending", pendingCount())));
		if (editCount() > 0)
			parts.push(el("span.part.mine", {},
			    plural("count_mine", editCount())));
		counts.replaceChildren(...parts);
		save.textContent = t("save_n", {n: format.integer(count)});
		cancel.textContent = t("cancel_n", {n: format.integer(count)});
		save.disabled = cancel.disabled = count === 0;
		element.classList.toggle("waiting",
		    editCount() + pendingCount() > 0);
	}

	on("ranges", update);
	on("selection", update);
	return {element, update, decideNow,
	    supplier(one) {
		supplier = one;
		update();
	    },
	    totals(...parts) {
		totals.replaceChildren(...parts.filter((part) => part)
		    .map((part) => el("span.part", {}, part)));
	    }};
}
