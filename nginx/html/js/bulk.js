/*
 * bulk: ranges of many rows in one act: a window counts before what will
 * change; one undo takes all of it back.
 */
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import * as format from "./format.js";
import {foresee, setMany} from "./ranges.js";
import {rest} from "./slices.js";
import {plural, t} from "./text.js";

const LISTED = 8; /* codes or lines that are told one by one */

const part = (kind, count, name, values) => count > 0 &&
    el(`li.${kind}`, {}, el("strong", {}, format.integer(count)), " ",
	plural(name, count, values));

const some = (list) => list.slice(0, LISTED).join(", ") +
    (list.length > LISTED ? "…" : "");

function content(seen, {twice = [], unknown = [], wrong = [], rounded = [],
    padded = []}) {
	const from = [...seen.from].sort(([, a], [, b]) => b - a);

	return [el("ul.parts", {}, [
		...from.map(([gamme, count]) => part("mine", count,
		    gamme === null ? "many_from_none" : "many_from", {gamme})),
		part("over", seen.over, "many_over"),
		part("faint", seen.same, "many_same"),
		part("over", twice.length, "many_twice", {codes: some(twice)}),
		part("over", unknown.length, "many_unknown",
		    {codes: some(unknown)}),
		part("over", rounded.length, "many_rounded",
		    {codes: some(rounded)}),
		part("faint", padded.length, "many_padded",
		    {codes: some(padded)}),
		part("over", wrong.length, "many_wrong", {lines: some(wrong)}),
	].filter((one) => one)), el("p.faint", {}, t("many_lead"))];
}

/*
 * Asks, then sets [row, gamme] of each of `pairs`; promises how many changed,
 * null when the buyer said no. `how` has a title(count), the words `go` of the
 * button, and lists of what was pasted in vain, as pasted.js tells them.
 */
export async function setAfterLook(pairs, how) {
	const seen = await foresee(pairs);
	const progress = el("p.faint", {role: "status"});
	const back = el("button", {type: "button",
	    onclick: () => window.close(null)}, t("go_back"));
	const go = el("button.primary", {type: "button",
	    disabled: seen.changes === 0}, how.go);
	const window = openDialog({title: how.title(seen.changes),
	    content: [...content(seen, how), progress], actions: [back, go]});

	(seen.changes === 0 ? back : go).focus();
	go.addEventListener("click", async () => {
		go.disabled = back.disabled = true;
		const changed = await setMany(pairs, (n) => {
			progress.textContent = t("many_working",
			    {n: format.integer(n),
				total: format.integer(pairs.length)});
		});

		await rest();
		window.close(changed);
	});
	return await window.closed ?? null;
}

/* The window's title for one range of all rows. */
export const titleOf = (gamme) => (count) => gamme === undefined ?
    plural("many_drop_title", count) : plural("many_title", count, {gamme});
