/*
 * pasted: ranges out of a spreadsheet: a column of letters for the rows from the
 * cursor down, one letter for the rows that are chosen, or lines of a code and a
 * range, the last column that holds one.
 */
import {get} from "./api.js";
import {quoted} from "./conditions.js";
import {RANGES} from "./ranges.js";
import {codePortions} from "./rows.js";

const CODES = ["codein", "gtin", "reference"]; /* as they are looked for */
const FIELDS = "codein,libelle1,codeGamme,codeGammeServeur";
const letters = new Set(RANGES);

/* {letters: [gamme…]} or {pairs: [[code, gamme]…]}, with `wrong` lines. */
export function readRanges(text) {
	const lines = text.replace(/(\r?\n)+$/, "").split(/\r?\n/)
	    .map((line) => line.split("\t").map((cell) => cell.trim()));
	const wrong = [], pairs = [];

	lines.forEach((cells, i) => {
		const gamme = cells.findLast((cell) =>
		    letters.has(cell.toUpperCase()))?.toUpperCase();

		if (gamme === undefined)
			wrong.push(i + 1);
		else
			pairs.push([cells.filter((cell) => cell !== "" &&
			    cell.toUpperCase() !== gamme), gamme]);
	});
	if (pairs.every(([codes]) => codes.length === 0))
		return {letters: pairs.map(([, gamme]) => gamme), wrong};
	/* The head of a table is no mistake. */
	return {pairs, wrong: wrong.filter((n) => n > 1)};
}

async function rowsBy(name, codes, supplier) {
	const rows = new Map();

	for (const part of codePortions(codes)) {
		const {data} = await get("/api/v1/grid", {fournisseur: supplier,
		    [name]: `in.(${part.map(quoted).join(",")})`,
		    fields: `${FIELDS},${name}`});

		for (const row of data)
			rows.set(row[name], row);
	}
	return rows;
}

/*
 * The rows that the codes name, whatever is shown: {found: [[row, gamme]…],
 * unknown: [code…]}. A code may be an article's, a GTIN or a reference.
 */
export async function rowsOfCodes(pairs, supplier) {
	const found = [];
	let left = pairs;

	for (const name of CODES) {
		if (left.length === 0)
			break;
		const rows = await rowsBy(name,
		    [...new Set(left.flatMap(([codes]) => codes))], supplier);
		const rest = [];

		for (const [codes, gamme] of left) {
			const code = codes.find((one) => rows.has(one));

			if (code === undefined)
				rest.push([codes, gamme]);
			else
				found.push([rows.get(code), gamme]);
		}
		left = rest;
	}
	return {found, unknown: left.map(([codes]) => codes[0] ?? "")};
}
