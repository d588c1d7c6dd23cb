/*
 * written: codes as spreadsheets and other systems write them: with a head,
 * quotes, blanks, dashes, decimals, an exponent, and without the zeros that
 * they begin with.
 */
const QUOTED = String.raw`"(?:[^"]|"")*"(?=[^\S\n]*(?:SEPARATOR|$))`;
/* A comma of a number is none between values: 3,76433E+12; 376,00; 3,760,123 */
const NUMBER = String.raw`[+-]?\d+,\d+[eE]\+?\d+|\d+,0{1,2}(?=[^\S\n]*(?:SEPARATOR|$))|` +
    String.raw`\d{1,3}(?:,\d{3}){3,}(?:\.0*)?`;
const partsBy = (separator, numbers) => new RegExp(
    `((?:${numbers}${QUOTED}|(?!SEPARATOR)[^])*)(SEPARATOR|$)`
	.replaceAll("SEPARATOR", separator), "g");
const IN_TEXTS = partsBy(String.raw`[\t\n]`, "");
const IN_TABLES = partsBy(String.raw`[\t\n;]`, "");
const IN_CODES = partsBy(String.raw`[\t\n;,]`, `${NUMBER}|`);

/* Marks that cannot be seen, and line ends of all systems. */
const visible = (text) => text.replace(/\r\n?/g, "\n")
    .replace(/[\p{Cf}]|(?![\n\t])\p{Cc}/gu, "");

/* ="0123" is how a sheet is told that a number is a text; so is '0123. */
function bare(cell) {
	const [, inner] = /^=?"((?:[^"]|"")*)"$/.exec(cell.trim()) ?? [];

	return (inner?.replaceAll('""', '"') ?? cell).replace(/\s+/g, " ")
	    .trim();
}

/*
 * The cells of each line of a table, empty ones too; a line without tabs may be
 * of a CSV.
 */
export function readCells(text) {
	const whole = visible(text).replace(/\n+$/, "");
	const form = whole.includes("\t") ? IN_TEXTS : IN_TABLES;
	const lines = [[]];

	for (const [all, part, separator] of whole.matchAll(form)) {
		if (all === "")
			break;
		lines.at(-1).push(bare(part));
		if (separator === "\n")
			lines.push([]);
	}
	return lines;
}

/* Two codes with a blank between are no code with a blank in it. */
const separate = (cell) => /^\d{6,}( \d{6,})+$/.test(cell) &&
    cell.replaceAll(" ", "").length > 14 ? cell.split(" ") : [cell];

/*
 * The lines of what was pasted, each a list of cells that hold something. Where
 * no lines of several cells are, each value is a line of its own; semicolons and
 * commas part codes there, not texts.
 */
export function readLines(text, areCodes) {
	const whole = visible(text);
	const table = /\n[^]*\S/.test(whole.trimEnd()) && whole.includes("\t");
	const lines = [[]];

	for (const [, part, separator] of whole.matchAll(
	    areCodes && !table ? IN_CODES : IN_TEXTS)) {
		lines.at(-1).push(...separate(bare(part)));
		if (separator !== "\t" || !table)
			lines.push([]);
	}
	return lines.flatMap((cells) => table ? [cells] :
	    cells.map((one) => [one]))
	    .map((cells) => cells.filter((one) => one !== ""))
	    .filter((cells) => cells.length > 0);
}

const EXPONENT = /^[+]?(\d+)(?:[.,](\d*))?E\+?(\d{1,2})$/i;

/* A number with all digits that its exponent says has lost none. */
function ofExponent(cell) {
	const [, units, decimals = "", shift] = EXPONENT.exec(cell) ?? [];

	return shift !== undefined && decimals.length === Number(shift) ?
	    units + decimals : null;
}

/* Whether a sheet has rounded the code: 3.76433E+12. */
export const isRounded = (cell) => EXPONENT.test(cell) &&
    ofExponent(cell) === null;

/* The code without what has been laid round it and between. */
function cleaned(cell) {
	const text = cell.replace(/^['‘’`]+/, "").trim();
	const whole = (ofExponent(text) ?? text)
	    .replace(/^(\d[\d\s.,'’]*)[.,]0{1,2}$/, "$1");
	const digits = (/^\d{1,3}([.,'’]\d{3}){3,}$/.test(whole) ?
	    whole.replace(/\D/g, "") : whole)
	    .replace(/[\s\p{Pd}\u2212]/gu, "");

	return /^\d+$/.test(digits) ? digits : text;
}

/* As it stands in the sheet, then what is meant. */
export const formsOf = (cell) => [...new Set([cell, cleaned(cell)])];

const GTINS = [8, 12, 13, 14];
const LONGEST = 13; /* a code that zeros are put before */

/* The same number with other zeros before it; [] of what is no number. */
export function zerosOf(cell, name) {
	const digits = cleaned(cell), least = digits.replace(/^0+(?=.)/, "");

	if (!/^\d+$/.test(digits))
		return [];
	const lengths = name === "gtin" ? GTINS :
	    Array.from({length: LONGEST}, (_, i) => i + 1);

	return [...new Set([least, ...lengths.filter((length) =>
	    length > least.length).map((length) =>
	    least.padStart(length, "0"))])].filter((one) => one !== digits);
}

const HEAD = /^(ean|gtin|upc)[\s-]?\d*$/i;

/* Whether the first of these lines names the columns of the others. */
export const hasHead = ([first, ...others]) => others.length > 0 &&
    first.every((cell) => HEAD.test(cell) || !/\d/.test(cell)) &&
    others.some((cells) => cells.some((cell) => /\d/.test(cell)));
