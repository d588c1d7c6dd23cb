/*
 * pasted: ranges out of a spreadsheet: a column of letters for the rows from the
 * cursor down, one letter for the rows that are chosen, or lines of a code and a
 * range, the last column that holds one.
 */
import {isAsWritten, rowsOfCells} from "./lookup.js";
import {RANGES} from "./ranges.js";
import {isRounded, readCells} from "./written.js";

const CODES = ["codein", "gtin", "reference"]; /* as they are looked for */
const FIELDS = ["libelle1", "codeGamme", "codeGammeServeur"];
const ranges = new Set(RANGES);

const isEmpty = (cells) => cells.every((cell) => cell === "");

/*
 * {letters: [gamme…]} or {pairs: [[code, gamme]…]}, with `wrong` lines. A line
 * without a letter keeps its place among letters, as null.
 */
export function readRanges(text) {
	const lines = readCells(text);
	const wrong = [], pairs = [], letters = [];

	lines.forEach((cells, i) => {
		const gamme = cells.findLast((cell) =>
		    ranges.has(cell.toUpperCase()))?.toUpperCase();

		letters.push(gamme ?? null);
		if (gamme === undefined) {
			if (!isEmpty(cells))
				wrong.push(i + 1);
		} else
			pairs.push([cells.filter((cell) => cell !== "" &&
			    cell.toUpperCase() !== gamme), gamme]);
	});
	/* The head of a table is no mistake. */
	const rest = wrong.filter((n) => n > 1);

	if (pairs.length === 0)
		return {letters: [], wrong};
	if (pairs.every(([codes]) => codes.length === 0))
		return {letters: letters.slice(wrong[0] === 1 ? 1 : 0),
		    wrong: rest};
	return {pairs, wrong: rest};
}

/*
 * {found, twice}: each article once, whatever codes name it; "code A / B" of each
 * that has several ranges.
 */
function eachOnce(pairs) {
	const byCode = new Map(), found = [], twice = [];

	for (const [row, gamme] of pairs) {
		const one = byCode.get(row.codein) ??
		    {row, gammes: new Set()};

		byCode.set(row.codein, one);
		one.gammes.add(gamme);
	}
	for (const {row, gammes} of byCode.values())
		if (gammes.size === 1)
			found.push([row, ...gammes]);
		else
			twice.push(`${row.codein} ${[...gammes].join(" / ")}`);
	return {found, twice};
}

/*
 * The rows that the codes name, whatever is shown: {found: [[row, gamme]…],
 * twice: ["code A / B"…], unknown: [code…], rounded: [code…], padded: [code…]}:
 * articles with several ranges, which are not found; unknown codes that a
 * spreadsheet has rounded; found ones that have other zeros at the supplier.
 * A code may be an article's, a GTIN or a reference, as written.js reads it; one
 * that fits several by other zeros names none.
 */
export async function rowsOfCodes(pairs, supplier) {
	const found = [], padded = [];
	let left = pairs;

	for (const name of CODES) {
		if (left.length === 0)
			break;
		const rows = await rowsOfCells(name,
		    left.map(([codes]) => codes), supplier, FIELDS);
		const rest = [];

		for (const [codes, gamme] of left) {
			const code = codes.find((one) =>
			    rows.get(one)?.length === 1);

			if (code === undefined) {
				rest.push([codes, gamme]);
				continue;
			}
			const [row] = rows.get(code);

			found.push([row, gamme]);
			if (!isAsWritten(code, row[name]))
				padded.push(`${code} → ${row[name]}`);
		}
		left = rest;
	}
	const unknown = left.map(([codes]) => codes[0] ?? "");

	return {...eachOnce(found), padded, unknown: unknown.filter((one) => !isRounded(one)),
	    rounded: unknown.filter(isRounded)};
}
