/*
 * dom: elements in one line. No markup is ever parsed from text, so nothing
 * that the API says can become an element.
 */

/* el("button.primary", {type: "button", onclick: f}, "Text", child, …) */
export function el(spec, attributes = {}, ...children) {
	const [tag, ...classes] = spec.split(".");
	const node = document.createElement(tag || "div");

	node.classList.add(...classes);
	set(node, attributes);
	node.append(...children.flat().filter((child) => child != null));
	return node;
}

export function set(node, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (value === true)
			node.setAttribute(name, "");
		else if (value !== false && value != null)
			node.setAttribute(name, value);
		else
			node.removeAttribute(name);
	}
	return node;
}

/* The words of a column's name: no line breaks at the hyphen of "N-1". */
export const nameWords = (name) => name.split(/(\S*N-1)/)
    .filter((part) => part !== "").map((part) => part.endsWith("N-1") ?
	el("span.nowrap", {}, part) : part);

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
	const node = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes))
		node.setAttribute(name, value);
	node.append(...children);
	return node;
}

/* Line icons on a 16 × 16 field. */
const paths = {
	filter: "M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.3V8.6z",
	search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4 14 14",
	close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
	down: "M4 6l4 4 4-4",
	right: "M6 4l4 4-4 4",
	up: "M4 10l4-4 4 4",
	columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
	settings: "M3 4.5h10M3 11.5h10M6 2.8v3.4M10.5 9.8v3.4",
	user: "M8 2.5a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM2.8 14" +
	    "c.4-3 2.5-4.4 5.2-4.4s4.8 1.4 5.2 4.4",
	tree: "M3 3.5h4M5 3.5V12h3M5 7.8h3M9.5 7.8H13M9.5 12H13",
	help: "M6 6.2c0-2.9 4.2-2.8 4.2-.2 0 1.7-2.1 1.8-2.1 3.4M8 12.2v.4",
	undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.5 4 3 6.5 5.5 9",
	redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M10.5 4 13 6.5 10.5 9",
	download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.2h10",
	star: "M8 2.3l1.8 3.6 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z",
	link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7L8 4.3" +
	    "M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l1-1",
	inbox: "M2.5 9.5 4.4 3h7.2l1.9 6.5v3.5h-11zM2.5 9.5h3.2c.2 1.3 1.1 2 2.3 2" +
	    "s2.1-.7 2.3-2h3.2",
	chart: "M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V5.5",
	pin: "M6 2.5h4l-.5 4.2 2 2.3h-7l2-2.3zM8 9v4.8",
	lock: "M4 7.5h8v5.5H4zM5.5 7.5V5.4a2.5 2.5 0 0 1 5 0v2.1",
	moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6z",
};

export function icon(name) {
	return svg("svg", {
		viewBox: "0 0 16 16", width: 16, height: 16, fill: "none",
		stroke: "currentColor", "stroke-width": 1.5,
		"stroke-linecap": "round", "stroke-linejoin": "round",
		"aria-hidden": "true", class: "icon",
	}, svg("path", {d: paths[name]}));
}

/* A lock beside a name, with its words. */
export const lock = (label) => el("span.lock", {role: "img",
    "aria-label": label, title: label}, icon("lock"));

/* A button with an icon alone needs its words for who cannot see it. */
export function iconButton(name, label, onclick) {
	return el("button.ghost", {type: "button", "aria-label": label,
	    title: label, onclick}, icon(name));
}

/* What was typed, or pasted out of a table with its tabs. */
export const typed = (input) => input.value.replace(/\p{Cc}+/gu, " ").trim();

/* Where the browser refuses its clipboard (no TLS), by a selection. */
export async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = el("textarea.unseen", {"aria-hidden": "true"});
		const home = document.querySelector("dialog[open]") ??
		    document.body;
		const had = document.activeElement;

		area.value = text;
		home.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
		had?.focus();
	}
}

export function debounce(wait_ms, run) {
	let timer;

	return (...args) => {
		clearTimeout(timer);
		timer = setTimeout(run, wait_ms, ...args);
	};
}
