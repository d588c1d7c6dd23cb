/* suppliers: the box in which a supplier is looked for and chosen. */
import {get} from "./api.js";
import {emit} from "./bus.js";
import {debounce, el, icon, lock, typed} from "./dom.js";
import {complain, failure} from "./errors.js";
import * as format from "./format.js";
import {mayDecide} from "./rights.js";
import {plural, t} from "./text.js";

const SHOWN = 60;
const ALL = 1000000;

/* Map code -> name, of all. */
export async function supplierNames() {
	const {data} = await get("/api/v1/fournisseurs", {limit: ALL});

	return new Map(data.map(({code, nom}) => [code, nom]));
}

export function supplierPicker() {
	const name = el("span.supplier-name", {},
	    el("span.words", {}, t("supplier_choose")));
	const button = el("button.supplier", {type: "button",
	    "aria-haspopup": "listbox", "aria-expanded": "false",
	    title: t("supplier_choose")}, name, icon("down"));
	const input = el("input", {type: "search", role: "combobox",
	    "aria-expanded": "true", "aria-controls": "suppliers",
	    "aria-autocomplete": "list", "aria-label": t("supplier_choose"),
	    placeholder: t("supplier_search"), autocomplete: "off"});
	const list = el("ul", {id: "suppliers", role: "listbox",
	    "aria-label": t("supplier")});
	const more = el("div.more", {"aria-live": "polite"});
	const popup = el("div.popup.suppliers", {hidden: true}, input, list,
	    more);
	let found = [], at = -1, asked = null;
	let foundBy = null; /* the words that `found` answers */
	let chosen = false; /* by Enter, before its words were answered */

	function mark(index) {
		at = Math.max(0, Math.min(index, found.length - 1));
		[...list.children].forEach((item, i) =>
		    item.setAttribute("aria-selected", String(i === at)));
		input.setAttribute("aria-activedescendant",
		    found.length > 0 ? `supplier-${at}` : "");
		list.children[at]?.scrollIntoView({block: "nearest"});
	}

	function item(supplier, index) {
		const size = supplier.hasSnapshot ?
		    format.integer(supplier.rowCount) : t("supplier_absent");

		return el("li", {role: "option", id: `supplier-${index}`,
		    onclick: () => choose(supplier),
		    onmousemove: () => at !== index && mark(index)},
		el("span.code", {}, supplier.code),
		el("span.grow", {}, supplier.nom ?? t("no_label")),
		mayDecide(supplier.code) ? null : lock(t("read_only")),
		el("span.size" + (supplier.hasSnapshot ? "" : ".faint"), {},
		    size));
	}

	/* The suppliers that answer `words`, and what is told below them. */
	function fill(suppliers, words, ...told) {
		found = suppliers;
		foundBy = words;
		list.replaceChildren(...suppliers.map(item));
		more.replaceChildren(...told);
		mark(Math.max(0, suppliers.findIndex(({code}) =>
		    code === words)));
	}

	async function look() {
		const words = typed(input);

		asked?.abort();
		asked = new AbortController();
		try {
			const {data, meta} = await get("/api/v1/fournisseurs",
			    {search: words, limit: SHOWN},
			    {signal: asked.signal});
			const left = meta.total - data.length;

			fill(data, words, data.length === 0 ?
			    t("supplier_none") : left > 0 ?
				plural("supplier_more", left) : "");
			list.setAttribute("aria-busy", "false");
			if (chosen && found[at])
				choose(found[at]);
			chosen = false;
		} catch (error) {
			if (error.name === "AbortError")
				return;
			fill([], null, failure(t("suppliers_failed"), error,
			    () => {
				input.focus();
				look();
			    }));
			list.setAttribute("aria-busy", "false");
		}
	}

	/* The list before answers other words: it waits empty, at full height. */
	function open() {
		fill([], null);
		list.setAttribute("aria-busy", "true");
		popup.hidden = false;
		button.setAttribute("aria-expanded", "true");
		input.value = "";
		input.focus();
		look();
	}

	/* Words that were typed fast are meant, not the list before them. */
	function enter() {
		const words = typed(input);

		if (words === foundBy && found[at])
			choose(found[at]);
		else if (words !== foundBy && words !== "") {
			chosen = true;
			look();
		}
	}

	function close() {
		chosen = false;
		foundBy = null;
		popup.hidden = true;
		button.setAttribute("aria-expanded", "false");
	}

	function choose(supplier) {
		close();
		emit("supplier", supplier);
	}

	const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8};

	const soon = debounce(120, look);

	input.addEventListener("input", () => {
		chosen = false;
		soon();
	});
	input.addEventListener("keydown", (event) => {
		if (moves[event.key])
			mark(at + moves[event.key]);
		else if (event.key === "Enter")
			enter();
		else if (event.key === "Escape") {
			close();
			button.focus();
		} else
			return;
		event.preventDefault();
		event.stopPropagation();
	});
	button.addEventListener("click", () => popup.hidden ? open() : close());
	/* A login that comes over the page leaves it as it was. */
	const isLeftFor = (node) => !box.contains(node) &&
	    node.closest("dialog.login") === null;

	document.addEventListener("pointerdown", ({target}) => {
		if (!popup.hidden && isLeftFor(target))
			close();
	});

	const box = el("div.supplier-box", {}, button, popup);

	/* A click on nothing leaves for no element: see pointerdown. */
	box.addEventListener("focusout", ({relatedTarget}) => {
		if (relatedTarget !== null && isLeftFor(relatedTarget))
			close();
	});

	return {element: box, open,
	    show(supplier) {
		name.replaceChildren(
		    el("span.words", {}, supplier.nom ?? supplier.code),
		    el("span.code", {}, supplier.code));
	    }};
}

/*
 * The supplier of this code; null when there is none, undefined when nobody
 * could say, which has been told.
 */
export async function findSupplier(code) {
	if (typeof code !== "string" || code === "")
		return null;
	try {
		const {data} = await get("/api/v1/fournisseurs", {search: code, limit: 1000000});

		return data.find((one) => one.code === code) ?? null;
	} catch (error) {
		complain(t("suppliers_failed"), error);
		return undefined;
	}
}
