/* searchbox: words to look for in the supplier's articles. */
import {debounce, el, icon, typed} from "./dom.js";
import {t} from "./text.js";
import {formsOf, readLines} from "./written.js";

const CODE = /^\d{6,}$/;
const GTIN = /^\d{11,}$/;

/*
 * {code}, as it is meant, or {name, text}, a list for a filter on a column, of
 * what was pasted; {} of words.
 */
function codesIn(text) {
	const codes = readLines(text, true).map(([cell]) =>
	    formsOf(cell).at(-1)).filter((one) => CODE.test(one));

	if (codes.length === 1 && readLines(text, true).length === 1)
		return {code: codes[0]};
	return codes.length < 2 ? {} : {text,
	    name: codes.some((one) => GTIN.test(one)) ? "gtin" : "codein"};
}

/*
 * `sought` hears of the words, `leave` that one goes on to the rows; `across`
 * looks for them at all suppliers; `listed` takes a column's name and a list of
 * codes that was pasted for it.
 */
export function searchBox(sought, leave, across, listed) {
	const input = el("input", {type: "search", "aria-label": t("search"),
	    autocomplete: "off", maxlength: 120,
	    disabled: true});

	/* A hint that the field cuts says less than a short one. */
	const narrow = matchMedia("(max-width: 860px)");
	const hint = () => {
		input.placeholder = t(narrow.matches ? "search" : "search_hint");
	};

	hint();
	narrow.addEventListener("change", hint);

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
	input.addEventListener("paste", (event) => {
		const {code, name, text} = codesIn(
		    event.clipboardData?.getData("text/plain") ?? "");

		if (code === undefined && name === undefined)
			return;
		event.preventDefault();
		if (name === undefined)
			document.execCommand("insertText", false, code);
		else
			listed(name, text);
	});
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
		/*
		 * Ctrl+F: the browser's own search knows the rows in sight alone.
		 * False, to leave the key to it, in the box already.
		 */
		find() {
			if (input.disabled || document.activeElement === input)
				return false;
			input.focus();
			input.select();
			return true;
		},
		/* These words, without telling anyone. */
		show(words) {
			input.value = words;
			input.disabled = false;
			look();
		},
	};
}
