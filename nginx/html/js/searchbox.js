/* searchbox: words to look for in the supplier's articles. */
import {debounce, el, icon, typed} from "./dom.js";
import {t} from "./text.js";

/*
 * `sought` hears of the words, `leave` that one goes on to the rows; `across`
 * looks for them at all suppliers.
 */
export function searchBox(sought, leave, across) {
	const input = el("input", {type: "search", "aria-label": t("search"),
	    placeholder: t("search_hint"), autocomplete: "off", maxlength: 120,
	    disabled: true});

	const everywhere = el("button.link.everywhere", {type: "button",
	    hidden: true, title: t("across_hint"), onclick: lookAcross},
	t("across"));

	function lookAcross() {
		if (typed(input) !== "")
			across(typed(input));
	}

	function look() {
		everywhere.hidden = typed(input) === "";
		input.classList.toggle("with-everywhere", !everywhere.hidden);
	}

	input.addEventListener("input", look);
	input.addEventListener("input", debounce(150, () =>
	    sought(typed(input))));
	input.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && event.ctrlKey) {
			event.preventDefault();
			lookAcross();
		} else if (event.key === "Escape" && input.value !== "") {
			event.preventDefault();
			input.value = "";
			look();
			sought("");
		} else if (["ArrowDown", "Enter", "Escape"].includes(event.key)) {
			event.preventDefault();
			leave();
		}
	});
	return {
		element: el("div.search-box", {}, icon("search"), input,
		    everywhere, el("kbd", {"aria-hidden": "true"}, "/")),
		focus: () => input.focus(),
		/* These words, without telling anyone. */
		show(words) {
			input.value = words;
			input.disabled = false;
			look();
		},
	};
}
