/*
 * ticks: the box at each row that chooses it. One element, where the
 * component's own has eight: it is in every row that one scrolls by.
 */
import {el} from "./dom.js";
import {t} from "./text.js";

const COLUMN = "ag-tick"; /* like the component's own it is not kept */

/* `host` holds the grid; api() gives its interface, once there is one. */
export function tickColumn(host, api) {
	let last = null; /* the row that was ticked before */

	/* With Shift: as all rows since the last one, as far as they are here. */
	function choose(index, on, through) {
		const from = through && last !== null ? last : index;
		const nodes = [];

		for (let i = Math.min(from, index); i <= Math.max(from, index); i++)
			nodes.push(api().getDisplayedRowAtIndex(i));
		api().setNodesSelected({newValue: on,
		    nodes: nodes.filter((node) => node?.data !== undefined)});
		last = index;
		/* The cell, not the box: Space is for one of the two. */
		api().setFocusedCell(index, COLUMN);
	}

	function box(node) {
		const input = el("input.tick", {type: "checkbox", tabindex: -1,
		    "aria-label": t("k_select"),
		    onclick: ({shiftKey}) => choose(node.rowIndex,
			input.checked, shiftKey)});

		input.checked = node.isSelected() === true;
		return input;
	}

	return {
		definition: {
			colId: COLUMN, headerName: "", pinned: "left", width: 40,
			minWidth: 40, maxWidth: 40, sortable: false,
			resizable: false, suppressMovable: true,
			lockPosition: "left", lockPinned: true,
			cellRenderer: ({data, node}) =>
			    data === undefined ? null : box(node),
		},
		/* As the rows in sight are chosen by now. */
		show() {
			for (const input of host.querySelectorAll("input.tick")) {
				const index = input.closest(".ag-row")
				    .getAttribute("row-index");

				input.checked = api().getDisplayedRowAtIndex(
				    Number(index))?.isSelected() === true;
			}
		},
		forget() {
			last = null;
		},
	};
}
