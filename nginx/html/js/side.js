/* side: the classes beside the grid, of the supplier and filters shown. */
import {classCounts} from "./asked.js";
import {classTree} from "./classes.js";
import {el, iconButton} from "./dom.js";
import {complain} from "./errors.js";
import {t} from "./text.js";

/* now() gives {supplier, filters}. */
export function sideView(now) {
	const tree = classTree();
	const element = el("nav.side", {"aria-label": t("classification")},
	    el("h2.side-title", {}, t("classification")), tree.element);
	let counting = new AbortController();

	/* How many of each class the other filters leave. */
	async function count() {
		const {supplier, filters} = now();

		counting.abort();
		counting = new AbortController();
		const {signal} = counting;

		try {
			const counts = await classCounts(supplier.code, filters,
			    signal);

			if (!signal.aborted)
				tree.counts(counts);
		} catch (error) {
			if (error.name !== "AbortError")
				complain(t("classes_failed"), error,
				    {about: "classes"});
		}
	}

	async function open() {
		const {supplier} = now();

		try {
			await tree.open(supplier.code);
			if (supplier !== now().supplier)
				return;
			tree.select(now().filters.nomenclature);
			count();
		} catch (error) {
			/* 202: it comes with the computed rows. */
			if (supplier === now().supplier && error.status !== 202)
				complain(t("classes_failed"), error,
				    {about: "classes"});
		}
	}

	function toggle() {
		const shown = element.offsetParent !== null;

		element.classList.toggle("closed", shown);
		element.classList.toggle("open", !shown);
	}

	return {
		element, open, count,
		clear: tree.clear, select: tree.select,
		/* Where it lies over the grid, it goes. */
		close: () => element.classList.remove("open"),
		button: iconButton("tree", t("classification"), toggle),
	};
}
