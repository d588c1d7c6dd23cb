/* density: how high the rows of the grid are, by the buyer's choice. */
import {emit} from "./bus.js";
import {el} from "./dom.js";
import {recall, remember} from "./store.js";
import {t} from "./text.js";

const HEIGHTS = {compact: 26, normal: 30, roomy: 40};

/* A finger needs high rows, unless the buyer says otherwise. */
const usual = () => matchMedia("(pointer: coarse)").matches ?
    "roomy" : "normal";

function density() {
	const kept = recall("density");

	return Object.hasOwn(HEIGHTS, kept) ? kept : usual();
}

/* The height of a row in pixels; cells take it from the style sheet. */
export function rowHeight() {
	document.documentElement.dataset.density = density();
	return HEIGHTS[density()];
}

export function densityChoice() {
	const now = density();

	return el("fieldset.choice.density", {},
	    el("legend", {}, t("density")),
	    Object.keys(HEIGHTS).map((value) => el("label", {},
		el("input", {type: "radio", name: "density", value,
		    checked: value === now ? true : null,
		    onchange() {
			    remember("density", value);
			    emit("density");
		    }}), el("span.face", {}, t(`density_${value}`)))));
}
