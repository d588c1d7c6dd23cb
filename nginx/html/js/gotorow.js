/* gotorow: to the row of a number. */
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import * as format from "./format.js";
import {t} from "./text.js";

export function askRow(total, go) {
	const input = el("input", {id: "row-number", inputmode: "numeric",
	    autocomplete: "off"});
	const problem = el("p.problem", {role: "alert"});
	const window = openDialog({title: t("goto_title"), content: [
		el("form.row", {novalidate: true, onsubmit(event) {
			const row = Number(input.value.replace(/\s/g, ""));

			event.preventDefault();
			if (Number.isInteger(row) && row >= 1 && row <= total) {
				window.close();
				go(row - 1);
			} else
				problem.textContent = t("goto_wrong",
				    {total: format.integer(total)});
		}}, el("div.field", {}, el("label", {for: "row-number"},
		    t("goto_row", {total: format.integer(total)})), input),
		el("button.primary", {}, t("goto_go"))), problem]});

	input.focus();
}
