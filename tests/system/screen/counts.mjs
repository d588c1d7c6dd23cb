/* counts: every text of the page that has a number in it, for none, one and two. */
import assert from "node:assert/strict";
import fs from "node:fs/promises";

const JS = new URL("../../../nginx/html/js/", import.meta.url);

/* The count is of no noun, or never one. */
const NO_NOUN = new Set(["save_all", "cancel_all", "cancel_shown",
    "cancel_selection", "scope_widen", "list_found", "list_missing", "many_working", "confirm_rest_save", "confirm_rest_cancel",
    "computing_since", "computing_busy", "wait_lost", "wait_silent",
    "wait_busy", "filter_too_many", "copy_many", "across_some", "print_cut"]);
/* These end in s for one, too. */
const SINGULAR = /^(mois|fois|was|is|as|this|has|sans|vous|plus|dans|vos)$/i;

async function texts() {
	const files = await fs.readdir(new URL("words/", JS));

	return Object.assign({}, ...await Promise.all(files.map(async (file) =>
	    (await import(new URL(`words/${file}`, JS))).default)));
}

/* text.js as a browser of this language has it. */
async function speaking(language) {
	Object.defineProperty(globalThis, "navigator", {configurable: true,
	    value: {language, languages: [language]}});
	return import(new URL(`text.js?${language}`, JS));
}

/* A plural right behind the number: "1 lignes". */
function wrongBehind(text, count) {
	const [, word = ""] = new RegExp(`(?:^|[^\\d,.])${count}\\s(\\p{L}+)`,
	    "u").exec(text) ?? [];

	return /[sx]$/.test(word) && !SINGULAR.test(word);
}

const EXAMPLES = {total: "9", columns: "9 x", rows: "9 x", words: "Ventes",
    gamme: "A", list: "x", codes: "x", lines: "x", most: "9"};

export async function counts(day) {
	const all = await texts();
	const counted = Object.keys(all).filter((name) =>
	    !name.endsWith("_1") && all[name].some((text) =>
		text.includes("{n}")));

	await day.check("each text with a count has one for a single thing", () =>
		assert.deepEqual(counted.filter((name) =>
		    !Object.hasOwn(all, `${name}_1`) && !NO_NOUN.has(name)), []));
	await day.check("what is said to have no noun is there, and has a count",
	    () => assert.deepEqual([...NO_NOUN].filter((name) =>
		!counted.includes(name)), []));
	await day.check("one thing is told as one, in both languages", async () => {
		const wrong = [];

		for (const language of ["fr-FR", "en-GB"]) {
			const {plural} = await speaking(language);
			const single = language === "fr-FR" ? [0, 1] : [1];

			for (const name of counted.filter((one) =>
			    !NO_NOUN.has(one)))
				for (const n of single) {
					const text = plural(name, n, EXAMPLES);

					if (wrongBehind(text, n))
						wrong.push(text);
				}
			assert.equal(plural("some_rows", 2), language === "fr-FR" ?
			    "2 lignes" : "2 rows");
			assert.equal(plural("some_rows", 0), language === "fr-FR" ?
			    "0 ligne" : "0 rows");
		}
		assert.deepEqual(wrong, []);
	});
	await day.check("no text with a singular is taken without its count",
	    async () => {
		const passed = [];

		for (const file of (await fs.readdir(JS)).filter((one) =>
		    one.endsWith(".js"))) {
			const source = await fs.readFile(new URL(file, JS), "utf8");

			for (const [, name] of source.matchAll(
			    /\bt\(\s*"(\w+)"/g))
				if (Object.hasOwn(all, `${name}_1`) ||
				    name.endsWith("_1"))
					passed.push(`${file}: ${name}`);
		}
		assert.deepEqual(passed, []);
	});
}
