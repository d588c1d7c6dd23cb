/*
 * state: what stands over the grid while there are no rows to see: loading, a
 * computation and how long it takes, nothing found, a failure and what to do.
 */
import {anyFilter} from "./asked.js";
import {el} from "./dom.js";
import {t} from "./text.js";

/* Why these filters leave no row. */
export const nothingText = (filters) =>
    anyFilter({...filters, show: ""}) || !filters.show ? t("nothing") :
	t(`nothing_${filters.show}`);

export function rowsState() {
	const element = el("div.rows-state", {role: "status", hidden: true});
	let timer = null;

	function clear() {
		clearInterval(timer);
		clearTimeout(timer);
		timer = null;
		element.hidden = true;
	}

	function show(...content) {
		clear();
		element.replaceChildren(el("div.card", {}, content));
		element.hidden = false;
	}

	const button = (text, run) => el("button", {type: "button",
	    onclick: run}, text);

	const bar = () => el("progress", {"aria-label": t("computing")});

	function computing(since = Date.now()) {
		const text = el("p.faint", {"aria-hidden": "true"});
		const seconds = () => Math.round((Date.now() - since) / 1000);
		const tick = () => {
			text.textContent = t("computing_since",
			    {n: seconds()});
		};

		show(el("h2", {}, t("computing")), bar(), text);
		tick();
		timer = setInterval(tick, 1000);
	}

	return {
		element, clear,
		/* Only when it takes long enough to be noticed. */
		loading(computes) {
			clear();
			timer = setTimeout(() => computes ? computing() :
			    show(el("p", {}, t("loading"))),
			computes ? 350 : 1000);
		},
		/* Resolves when the wait is over. */
		busy: (seconds) => new Promise((resolve) => {
			let left = seconds;
			const text = el("p.faint");
			const tick = () => {
				text.textContent = t("computing_busy",
				    {n: left});
				if (left-- <= 0) {
					clear();
					resolve();
				}
			};

			show(el("h2", {}, t("computing")), bar(), text);
			tick();
			timer = setInterval(tick, 1000);
		}),
		nothing(text, clearFilters) {
			show(el("p", {}, text), clearFilters &&
			    button(t("clear_filters"), clearFilters));
		},
		/* `act` is {label, run}. */
		failed(title, why, act) {
			show(el("h2", {}, title), why && el("p.faint", {}, why),
			    button(act.label, act.run));
		},
	};
}
