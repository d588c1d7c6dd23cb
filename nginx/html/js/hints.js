/* hints: the figures behind bars, told where the pointer is. */
import * as format from "./format.js";
import {monthKeys} from "./period.js";

/* `rowAt` gives the row of a place; made when wanted, not for each row. */
export function hintBars(host, rowAt) {
	host.addEventListener("pointerover", ({target}) => {
		const cell = target.closest?.(".ag-cell");
		const index = cell?.closest(".ag-row")?.getAttribute("row-index");

		if (!cell?.querySelector(".bars") || index == null)
			return;
		const series = rowAt(Number(index))?.[cell.getAttribute("col-id")];

		cell.title = monthKeys(series).map((key) =>
		    `${format.monthYear(key)} : ${
			format.decimal(series?.[key] ?? 0)}`).join("\n");
	});
}
