/* dialog: a window over the page; Escape and its cross close it. */
import {el, iconButton} from "./dom.js";
import {placeNotices} from "./notice.js";
import {t} from "./text.js";

const FOCUSED = "a[href], button, input, select, textarea, summary";

let count = 0;

/* Whether a window is open: what is below it stays as it is. */
export const isDialogOpen = () =>
    document.querySelector("dialog[open]") !== null;

/*
 * Opens one with a title and content, `actions` at its foot. Resolves when it
 * is closed, with the value given to close(value), else undefined.
 */
export function openDialog({title, content, actions = [], wide = false}) {
	const id = `dialog-${++count}`;
	let result;

	const dialog = el("dialog" + (wide ? ".wide" : ""),
	    {"aria-labelledby": id});
	const close = (value) => {
		result = value;
		dialog.close();
	};

	const body = el("div.dialog-body", {}, content);

	/* What has nothing to go to is scrolled by the keyboard all the same. */
	if (body.querySelector(FOCUSED) === null)
		body.tabIndex = 0;
	dialog.append(
	    el("header", {}, el("h2", {id}, title),
		iconButton("close", t("close"), () => close())), body);
	if (actions.length > 0)
		dialog.append(el("footer", {}, actions));
	/* The key that opened the window, still held, does not answer it. */
	dialog.addEventListener("keydown", (event) => {
		if (event.repeat && event.target.matches("footer button"))
			event.preventDefault();
	});
	document.body.append(dialog);
	dialog.showModal();
	/* A login stays over all windows: closed, it shows itself again. */
	document.querySelector("dialog.login")?.close();
	placeNotices();
	const closed = new Promise((resolve) => {
		dialog.addEventListener("close", () => {
			placeNotices();
			dialog.remove();
			resolve(result);
		});
	});

	return {dialog, close, closed};
}

/* Asks whether to do what cannot be undone; `go` is its button. */
export function sure(title, go, lead = "") {
	const window = openDialog({
		title, content: lead === "" ? [] : [el("p", {}, lead)],
		actions: [
			el("button", {type: "button",
			    onclick: () => window.close(false)}, t("go_back")),
			el("button.danger", {type: "button",
			    onclick: () => window.close(true)}, go),
		]});

	return window.closed;
}
