/* searchbox: words to look for in the supplier's articles. */
import {debounce, el, icon, typed} from "./dom.js";
import {t} from "./text.js";

/* `sought` hears of the words, `leave` that one goes on to the rows. */
export function searchBox(sought, leave) {
	const input = el("input", {type: "search", "aria-label": t("search"),
	    placeholder: t("search_hint"), autocomplete: "off", maxlength: 120,
	    disabled: true});

	input.addEventListener("input", debounce(150, () =>
	    sought(typed(input))));
	input.addEventListener("keydown", (event) => {
		if (event.key === "Escape" && input.value !== "") {
			event.preventDefault();
			input.value = "";
			sought("");
		} else if (["ArrowDown", "Enter", "Escape"].includes(event.key)) {
			event.preventDefault();
			leave();
		}
	});
	return {
		element: el("div.search-box", {}, icon("search"), input,
		    el("kbd", {"aria-hidden": "true"}, "/")),
		focus: () => input.focus(),
		/* These words, without telling anyone. */
		show(words) {
			input.value = words;
			input.disabled = false;
		},
	};
}
