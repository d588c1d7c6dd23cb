/* keyboard: shortcuts that work anywhere, and the window that lists all. */
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {t} from "./text.js";

const keys = () => [
	[["/", "Ctrl+F"], "k_search"],
	[["F"], "k_supplier"],
	[[t("key_arrows"), t("key_pages")], "k_move"],
	[[t("key_enter"), "F2"], "k_open"],
	[[t("key_escape")], "k_close"],
	[["A", "B", "C", "Y", "Z"], "k_set"],
	[[t("key_delete")], "k_drop"],
	[["+", "-"], "k_accept"],
	[["N", "P"], "k_next"],
	[["I"], "k_inbox"],
	[["Ctrl+Z"], "k_undo"],
	[["Ctrl+Y"], "k_redo"],
	[["Ctrl+D"], "k_down"],
	[[t("key_space")], "k_select"],
	[["Ctrl+A"], "select_all"],
	[["Ctrl+S"], "k_save"],
	[[`${t("key_shift")}+${t("key_arrows")}`], "k_block"],
	[["Ctrl+C"], "k_copy"],
	[["Ctrl+V"], "k_paste"],
	[["Ctrl+P"], "k_print"],
	[[`Ctrl+${t("key_enter")}`], "k_across"],
	[["Ctrl+G"], "goto_title"],
	[["L"], "k_filter"],
	[["G"], "summary"],
	[["E"], "export"],
	[["V"], "views"],
	[["?"], "k_help"],
];

/* What a buyer does on the first day, in the order of a day. */
const LESSONS = ["find", "sum", "wait", "set", "save", "months"];

export function openHelp() {
	openDialog({title: t("help"), content: [
		el("h3", {}, t("lessons")),
		el("ol.lessons", {}, LESSONS.map((one) =>
		    el("li", {}, t(`lesson_${one}`)))),
		el("h3", {}, t("keyboard")),
		el("dl.shortcuts", {}, keys().map(([names, text]) =>
		    el("div", {}, el("dt", {}, names.map((name) =>
			el("kbd", {}, name))), el("dd", {}, t(text)))))]});
}

const writesText = (node) => node.matches?.(
    "input:not([type=checkbox]):not([type=radio]), textarea, select");

/* acts: {"/": run, "Ctrl+S": run, …}; not while a window is open. */
export function listenKeys(acts) {
	document.addEventListener("keydown", (event) => {
		const command = event.ctrlKey || event.metaKey;
		const name = (command ? "Ctrl+" : "") +
		    (command && event.shiftKey ? "Shift+" : "") +
		    (event.key.length === 1 ? event.key.toUpperCase() :
			event.key);
		const act = acts[name];

		if (act === undefined || event.altKey ||
		    event.defaultPrevented ||
		    document.querySelector("dialog[open], main.login"))
			return;
		if (writesText(event.target) && !command &&
		    event.key !== "Escape")
			return;
		if (act(event) !== false)
			event.preventDefault();
	});
}
