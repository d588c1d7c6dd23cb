/* listreport: what became of values that were pasted as a filter: see lookup.js. */
import {openDialog} from "./dialog.js";
import {copyText, el} from "./dom.js";
import * as format from "./format.js";
import {t} from "./text.js";

const TOLD = 8; /* values that are told one by one */

const some = (list) => list.slice(0, TOLD).join(", ") +
    (list.length > TOLD ? "…" : "");

/* Whether all was found as it was written: nothing has to be told. */
export const isPlain = ({missing, padded}) =>
    missing.length === 0 && padded.length === 0;

/* The missing ones, a line each, for a sheet. */
function missingList(missing) {
	const lines = missing.join("\n");
	const copy = el("button", {type: "button", async onclick() {
		await copyText(lines);
		copy.textContent = t("list_copied");
	}}, t("list_copy"));

	return [el("div.field", {}, el("label", {for: "list-missing"},
	    t("list_missing", {n: format.integer(missing.length)})),
	el("textarea", {id: "list-missing", rows: 5, readonly: true},
	    lines)), copy];
}

/* `narrowed` is whether other filters leave fewer rows than these values have. */
export const listReport = ({asked, missing, padded, rounded},
    narrowed = false) => [
	el("p", {}, t("list_found", {total: format.integer(asked),
	    n: format.integer(asked - missing.length)})),
	narrowed && el("p", {}, t("list_narrowed")),
	padded.length > 0 && el("p", {}, t("list_padded", {list: some(padded
	    .map(([cell, value]) => `${cell} → ${value}`))})),
	rounded.length > 0 && el("p", {}, t("list_rounded",
	    {list: some(rounded)})),
	...missing.length > 0 ? missingList(missing) : [],
].filter((one) => one);

export const openListReport = (result, narrowed) => openDialog({
    title: t("list_title"), content: [el("div.list-report", {},
	listReport(result, narrowed))]});
