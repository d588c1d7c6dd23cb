/* theme: as the system has it, until the user turns it over. */
import {emit} from "./bus.js";
import {recall, remember} from "./store.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

function apply() {
	const kept = recall("theme");
	const chosen = kept === "dark" || kept === "light" ? kept :
	    dark.matches ? "dark" : "light";

	document.documentElement.dataset.theme = chosen;
	emit("theme");
}

export function followTheme() {
	apply();
	dark.addEventListener("change", apply);
}

export function turnTheme() {
	remember("theme", document.documentElement.dataset.theme === "dark" ?
	    "light" : "dark");
	apply();
}
