/*
 * classes: the classification beside the grid, three levels that open one
 * within the other, each with its count. A tree to the keyboard as well.
 */
import {get} from "./api.js";
import {emit} from "./bus.js";
import {el, icon} from "./dom.js";
import {complain} from "./errors.js";
import * as format from "./format.js";
import {t} from "./text.js";

const ALL = 1000000; /* a level has a million codes at the most */

export function classTree() {
	const tree = el("ul.tree", {role: "tree",
	    "aria-label": t("classification")});
	const filling = new WeakMap(); /* item -> promise of its classes */
	let supplier = null;
	let selects = 0; /* the last one counts, however answers come */
	let counts = null; /* by the filters: code -> number; null: all */

	async function load(level, parent) {
		const {data, meta} = await get("/api/v1/nomenclatures",
		    {fournisseur: supplier, niveau: level, parent, limit: ALL});

		return {data, meta};
	}

	const items = () => [...tree.querySelectorAll("[role=treeitem]")]
	    .filter((item) => item.offsetParent !== null);

	function focus(item) {
		for (const one of tree.querySelectorAll("[role=treeitem]"))
			one.tabIndex = one === item ? 0 : -1;
		item?.focus();
	}

	function mark(item) {
		for (const one of tree.querySelectorAll("[aria-selected=true]"))
			one.setAttribute("aria-selected", "false");
		item?.setAttribute("aria-selected", "true");
	}

	function choose(item) {
		selects++;
		mark(item);
		emit("class", item.dataset.code);
	}

	const itemOf = (code) => tree.querySelector(`[data-code="${code}"]`);

	/* Resolves when its classes are there, where they are to be seen. */
	async function toggle(item, open) {
		const was = item.getAttribute("aria-expanded");

		if (was === null)
			return;
		item.setAttribute("aria-expanded", String(open));
		if (open && !filling.has(item))
			filling.set(item, fill(item, item.querySelector("ul"))
			    .then((done) => done || filling.delete(item)));
		if (open)
			await filling.get(item);
	}

	/* Returns whether they could be had. */
	async function fill(item, group) {
		try {
			const level = item.dataset.code.length / 2 + 1;
			const {data} = await load(level, item.dataset.code);

			group.replaceChildren(...data.map(node));
			return true;
		} catch (error) {
			item.setAttribute("aria-expanded", "false");
			complain(t("classes_failed"), error);
			return false;
		}
	}

	/* How many rows an item's class has, by the filters where there are. */
	function tally(item) {
		const {code, all} = item.dataset;
		const n = counts === null ? Number(all) : counts.get(code) ?? 0;

		item.querySelector(".count").textContent = format.integer(n);
		item.classList.toggle("empty", n === 0);
	}

	function node(entry) {
		const leaf = entry.code.length === 6 || entry.code === "";
		const item = el("li", {role: "treeitem", tabindex: -1,
		    "aria-selected": "false", "data-code": entry.code,
		    "data-all": entry.nbArticles,
		    "aria-expanded": leaf ? null : "false"});
		const twist = el("span.twist", {"aria-hidden": "true"},
		    leaf ? null : icon("right"));
		const line = el("div.line", {},
		    twist, el("span.grow" + (entry.libelle ? "" : ".faint"),
			{title: entry.libelle},
			entry.libelle ?? `${entry.code} ${t("no_label")}`),
		    el("span.count"));

		twist.addEventListener("click", (event) => {
			event.stopPropagation();
			toggle(item,
			    item.getAttribute("aria-expanded") === "false");
		});
		line.addEventListener("click", () => {
			focus(item);
			choose(item);
			toggle(item, true);
		});
		item.append(line);
		if (!leaf)
			item.append(el("ul", {role: "group"}));
		tally(item);
		return item;
	}

	tree.addEventListener("keydown", (event) => {
		const item = event.target.closest("[role=treeitem]");
		const all = items(), at = all.indexOf(item);
		const steps = {
			ArrowDown: () => focus(all[at + 1] ?? item),
			ArrowUp: () => focus(all[at - 1] ?? item),
			Home: () => focus(all[0]),
			End: () => focus(all.at(-1)),
			ArrowRight: () => toggle(item, true),
			ArrowLeft: () => item.getAttribute("aria-expanded") ===
			    "true" ? toggle(item, false) : focus(item.parentElement
				.closest("[role=treeitem]") ?? item),
			Enter: () => choose(item),
			" ": () => choose(item),
		};

		if (at < 0 || !steps[event.key])
			return;
		event.preventDefault();
		steps[event.key]();
	});

	return {
		element: tree,
		clear() {
			counts = null;
			tree.replaceChildren();
		},
		/* Map of code to number, as the filters leave it; null: all. */
		counts(now) {
			counts = now;
			tree.querySelectorAll("[role=treeitem]").forEach(tally);
		},
		/* Level 1, and all articles above it. */
		async open(code) {
			supplier = code;
			const {data: entries, meta} = await load(1);
			const whole = {code: "", libelle: t("all_articles"),
			    nbArticles: entries.reduce((all, entry) =>
				all + entry.nbArticles,
			    meta.sansNomenclature ?? 0)};

			if (supplier !== code)
				return;
			tree.replaceChildren(...[whole, ...entries].map(node));
			tree.firstElementChild.tabIndex = 0;
			tree.firstElementChild.setAttribute("aria-selected",
			    "true");
		},
		/*
		 * Marks a class, "" for all, without telling anyone; those that
		 * it is in open.
		 */
		async select(code) {
			const mine = ++selects;

			for (let n = 2; n < code.length; n += 2)
				if (itemOf(code.slice(0, n)) !== null)
					await toggle(itemOf(code.slice(0, n)), true);
			if (mine === selects)
				mark(itemOf(code));
		},
	};
}
