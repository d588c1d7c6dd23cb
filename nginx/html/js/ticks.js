/*
 * ticks: which rows are chosen, and the box at each row, and in the head, that
 * chooses them. A row may be chosen that is not in the grid: the grid keeps a
 * few thousand at hand, and a buyer may mean all 130,000 that a filter left.
 */
import {el} from "./dom.js";
import {inSlices} from "./slices.js";
import {t} from "./text.js";

const COLUMN = "ag-tick"; /* like the component's own it is not kept */

/*
 * `host` holds the grid, api() gives its interface, once there is one;
 * slice(from, to) promises the rows of these places, in the order shown, with
 * what ALWAYS comes (rows.js). changed() hears that others are chosen, failed()
 * gets the error when rows could not be had.
 */
export function tickColumn(host, {api, slice, changed, failed}) {
	const chosen = new Map(); /* codein -> row */
	let last = null; /* the place that was ticked before */
	let wants = 0; /* only the newest wish counts */

	const rowAt = (index) => Number.isInteger(index) ?
	    api().getDisplayedRowAtIndex(index)?.data : undefined;
	const rowCount = () => api().getDisplayedRowCount();

	function putOne(row, on) {
		if (on)
			chosen.set(row.codein, row);
		else
			chosen.delete(row.codein);
	}

	/* Rows that are here, else asked for. */
	async function rowsOf(from, to) {
		const rows = [];

		for (let i = from; i < to; i++) {
			const row = rowAt(i);

			if (row === undefined)
				return slice(from, to);
			rows.push(row);
		}
		return rows;
	}

	async function chooseAll(from, to, on) {
		const mine = ++wants;

		host.classList.add("choosing");
		try {
			const rows = await rowsOf(from, to);

			await inSlices(rows, (row) => mine === wants &&
			    putOne(row, on));
			if (mine === wants) {
				show();
				changed();
			}
		} catch (error) {
			if (mine === wants)
				failed(error);
			show();
		} finally {
			if (mine === wants)
				host.classList.remove("choosing");
		}
	}

	/* With `through` all rows since the last one are made alike. */
	function choose(index, on, through) {
		const from = through && last !== null ? last : index;

		last = index;
		chooseAll(Math.min(from, index), Math.max(from, index) + 1, on);
		/* The cell, not the box: Space is for one of the two. */
		api().setFocusedCell(index, COLUMN);
	}

	function box(node) {
		const input = el("input.tick", {type: "checkbox", tabindex: -1,
		    "aria-label": t("k_select"),
		    onclick: ({shiftKey}) => choose(node.rowIndex,
			input.checked, shiftKey)});

		input.checked = chosen.has(node.data.codein);
		return input;
	}

	/* The head's box: all that the filters leave, or none. */
	const all = el("input.tick", {type: "checkbox", "aria-label":
	    t("select_all"), title: t("select_all"),
	    onclick: () => all.checked ? chooseAll(0, rowCount(), true) :
		clear()});

	class Head {
		init() {}
		getGui() {
			return all;
		}
		refresh() {
			return true;
		}
	}

	/* As the rows in sight are chosen by now. */
	function show() {
		for (const row of host.querySelectorAll(".ag-row[row-index]")) {
			const data = rowAt(Number(row.getAttribute("row-index")));
			const on = data !== undefined && chosen.has(data.codein);
			const input = row.querySelector("input.tick");

			row.classList.toggle("row-chosen", on);
			if (input !== null)
				input.checked = on;
		}
		all.checked = chosen.size > 0 && chosen.size >= rowCount();
		all.indeterminate = chosen.size > 0 && !all.checked;
	}

	function clear() {
		wants++;
		host.classList.remove("choosing");
		last = null;
		chosen.clear();
		show();
		changed();
	}

	return {
		definition: {
			colId: COLUMN, headerName: "", pinned: "left", width: 40,
			minWidth: 40, maxWidth: 40, sortable: false,
			resizable: false, suppressMovable: true,
			lockPosition: "left", lockPinned: true,
			headerComponent: Head,
			cellRenderer: ({data, node}) =>
			    data?.codein === undefined ? null : box(node),
		},
		rowClassRules: {
			"row-chosen": ({data}) => data !== undefined &&
			    chosen.has(data.codein),
		},
		clear,
		/* Space at a row, Ctrl+A; true when taken. */
		pressed(event, index) {
			const command = event.ctrlKey || event.metaKey;

			if (event.key === " " && !command)
				choose(index, !chosen.has(rowAt(index).codein),
				    event.shiftKey);
			else if (command && event.key.toLowerCase() === "a")
				chooseAll(0, rowCount(), true);
			else
				return false;
			return true;
		},
		rows: () => [...chosen.values()],
		chosen: () => chosen,
		/* Map codein -> ranges, laid over rows that are not at hand. */
		recorded(now) {
			for (const [codein, ranges] of now)
				Object.assign(chosen.get(codein) ?? {}, ranges);
		},
	};
}
