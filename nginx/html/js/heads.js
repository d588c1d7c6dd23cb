/*
 * heads: what stands in a column's head: its words, and for a mouse the way to
 * its filter; the keyboard has L.
 */
import {el, nameWords} from "./dom.js";
import {t} from "./text.js";

/* The head of a column for AG Grid; `ask` takes the name of the column. */
export function columnHeads(ask) {
	const drawn = new Map(); /* a column's name to its funnel */
	let filtered = new Set();

	class Head {
		init(params) {
			this.words = el("span", {}, nameWords(params.displayName));
			this.gui = el("span.head", {}, this.words);
			this.name = params.column.getColId();
			if (params.filterable)
				this.#addFunnel();
		}

		#addFunnel() {
			const funnel = el("span.funnel", {title: t("k_filter"),
			    onclick: (event) => {
				event.stopPropagation();
				ask(this.name);
			    }});

			funnel.classList.toggle("on", filtered.has(this.name));
			drawn.set(this.name, funnel);
			this.funnel = funnel;
			this.gui.append(funnel);
		}

		getGui() {
			return this.gui;
		}

		refresh({displayName}) {
			this.words.replaceChildren(...nameWords(displayName));
		}

		destroy() {
			if (drawn.get(this.name) === this.funnel)
				drawn.delete(this.name);
		}
	}

	return {
		Head,
		/* A Set of the names that filters are on. */
		filtered(names) {
			filtered = names;
			for (const [name, funnel] of drawn)
				funnel.classList.toggle("on", names.has(name));
		},
	};
}
