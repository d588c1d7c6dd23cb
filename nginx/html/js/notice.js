/*
 * notice: what a person should know, in words: short notices that go away, and
 * the state of the connection, which stays until it is well again.
 */
import {on} from "./bus.js";
import {el} from "./dom.js";
import {t} from "./text.js";

const SHOWN_MS = 7000;

const list = el("div.notices", {role: "status", "aria-live": "polite"});
const line = el("div.connection", {role: "alert", hidden: true});

/*
 * Where notices stand: in the window that is open, as all else is out of reach
 * below it; else in the page.
 */
export function placeNotices() {
	const windows = document.querySelectorAll("dialog[open]");

	(windows[windows.length - 1] ?? document.body).append(line, list);
}

/* The page begins below it, however many lines it has; a window has it within. */
new ResizeObserver(() => document.documentElement.style.setProperty(
    "--connection", `${line.parentNode === document.body ?
	line.offsetHeight : 0}px`)).observe(line);

/* Notices whose action may become void: button -> isVoid. */
const actions = new Map();

on("ranges", () => {
	for (const [button, isVoid] of actions)
		if (!button.isConnected || isVoid()) {
			button.remove();
			actions.delete(button);
		}
});

/* Not while the pointer or the focus is on it; then it has its time anew. */
function dropLater(note) {
	let timer = null;
	const begin = () => {
		clearTimeout(timer);
		timer = setTimeout(() => note.matches(":hover, :focus-within") ?
		    begin() : note.remove(), SHOWN_MS);
	};

	note.addEventListener("pointerleave", begin);
	note.addEventListener("focusout", begin);
	begin();
}

/*
 * `text` may have elements; `action` is {label, run, isVoid}: its button goes
 * once isVoid() says so. Errors stay until they are closed; a notice takes the
 * place of an older one `about` the same. Returns what takes it back.
 */
export function tell(text, {error = false, action = null, about = null} = {}) {
	const note = el("div.notice" + (error ? ".error" : ""),
	    {"data-about": about},
	    el("span.words", {}, [text].flat()));
	let from = null; /* where the focus was before it came here */
	const drop = () => {
		const had = note.contains(document.activeElement);

		note.remove();
		if (had)
			from?.focus();
	};

	note.addEventListener("focusin", ({relatedTarget}) => {
		if (!note.contains(relatedTarget))
			from = relatedTarget;
	});

	if (action != null) {
		const button = el("button.link", {type: "button", onclick() {
			drop();
			action.run();
		}}, action.label);

		note.append(button);
		if (action.isVoid)
			actions.set(button, action.isVoid);
	}
	note.append(el("button.ghost.small", {type: "button",
	    "aria-label": t("close"), onclick: drop}, "×"));
	while (list.childElementCount > 3)
		list.firstElementChild.remove();
	if (about !== null)
		hush(about);
	list.append(note);
	if (!error)
		dropLater(note);
	return drop;
}

/* Takes back what was told `about` this. */
export const hush = (about) =>
    list.querySelector(`[data-about=${about}]`)?.remove();

function showLine(shown) {
	line.hidden = !shown;
	document.body.classList.toggle("offline", shown);
}

let waiting = null;
let why = "lost";

/*
 * Waits, told second by second; a button ends the wait. All wait as one. `kind`
 * is why: "lost" network, "silent" server, or one that is "busy".
 */
export function waitOffline(seconds, kind) {
	waiting ??= countDown(seconds, kind).finally(() => {
		waiting = null;
	});
	return waiting;
}

function countDown(seconds, kind) {
	why = kind;
	return new Promise((resolve) => {
		let left = seconds;
		const text = el("span", {}, t(`wait_${kind}`, {n: left}));
		const done = () => {
			clearInterval(timer);
			removeEventListener("online", done);
			text.textContent = t(`wait_${kind}_now`);
			resolve();
		};
		const timer = setInterval(() => {
			text.textContent = t(`wait_${kind}`, {n: --left});
			if (left <= 0)
				done();
		}, 1000);

		addEventListener("online", done);
		line.replaceChildren(text, el("button.link",
		    {type: "button", onclick: done}, t("retry")));
		showLine(true);
	});
}

export function connected() {
	if (line.hidden)
		return;
	showLine(false);
	tell(t(`well_${why}`));
}
