/*
 * text: every word that the page says by itself, in French and in English: see
 * words/. What concerns columns comes from the API's description: columns.js.
 */
import {recall} from "./store.js";
import frame from "./words/frame.js";
import ranges from "./words/ranges.js";
import tools from "./words/tools.js";
import work from "./words/work.js";

const texts = {...frame, ...ranges, ...tools, ...work};

const browsers = navigator.languages?.[0] ?? navigator.language ?? "fr";
const chosen = recall("language");
/* The buyer's choice, in the form that the browser has of it: "en-GB". */
const wanted = !["fr", "en"].includes(chosen) ||
    browsers.toLowerCase().startsWith(chosen) ? browsers : chosen;
export const french = wanted.toLowerCase().startsWith("fr");
export const language = wanted.match(/^(fr|en)/i) ? wanted : "en";

/* t("save_n", {n: "12"}); a text that is missing is our own mistake. */
export function t(name, values = {}) {
	const pair = texts[name];

	if (pair === undefined)
		throw new Error(`text.js has no "${name}"`);
	return pair[french ? 0 : 1].replace(/\{(\w+)\}/g,
	    (all, key) => values[key] ?? all);
}

const rules = new Intl.PluralRules(language);

/*
 * Every text with a count: `name`_1 where the language has the singular, which
 * French has for 0, too.
 */
export function plural(name, count, values = {}) {
	const n = new Intl.NumberFormat(language).format(count);
	const one = rules.select(count) === "one" && texts[name + "_1"];

	return t(one ? name + "_1" : name, {n, ...values});
}
