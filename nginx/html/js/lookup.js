/*
 * lookup: which of the values that were pasted a supplier has, and how they
 * stand there. See written.js for how a sheet may have written them.
 */
import {get} from "./api.js";
import {column} from "./columns.js";
import {quoted} from "./conditions.js";
import {codePortions} from "./rows.js";
import {formsOf, hasHead, isRounded, zerosOf} from "./written.js";

/* Map of each value of a column, of these, to a row that has it. */
export async function rowsBy(name, values, supplier, fields = []) {
	const rows = new Map();

	for (const part of codePortions([...new Set(values)])) {
		const {data} = await get("/api/v1/grid", {fournisseur: supplier,
		    [name]: `in.(${part.map(quoted).join(",")})`,
		    fields: [...new Set(["codein", name, ...fields])].join(",")});

		for (const row of data)
			rows.set(row[name], row);
	}
	return rows;
}

const isCode = (name) => column(name).kind === "code";

/*
 * Map of each cell that the supplier has to its rows there, mostly one: what is
 * written, else what is meant, else, of the first cell of a line, the number
 * with other zeros before it: a count behind it may well look like a code.
 */
export async function rowsOfCells(name, lines, supplier, fields) {
	const found = new Map(), firsts = new Set(lines.map(([cell]) => cell));
	const steps = isCode(name) ? [formsOf, (cell) => firsts.has(cell) ?
	    zerosOf(cell, name) : []] : [(cell) => [cell]];
	let left = [...new Set(lines.flat())];

	for (const formsIn of steps) {
		const forms = new Map(left.map((cell) => [cell, formsIn(cell)]));
		const rows = await rowsBy(name, [...forms.values()].flat(),
		    supplier, fields);

		for (const [cell, some] of forms) {
			const there = some.filter((one) => rows.has(one));

			if (there.length > 0)
				found.set(cell, (formsIn === formsOf ?
				    there.slice(0, 1) : there)
				    .map((one) => rows.get(one)));
		}
		left = left.filter((cell) => !found.has(cell));
	}
	return found;
}

/* Whether the value has the zeros that the cell has. */
export const isAsWritten = (cell, value) => formsOf(cell).includes(value);

/*
 * {values, asked, padded, rounded, missing}: what the supplier has of these
 * lines (readLines), how many there were, [cell, value] of those that have
 * other zeros there, cells that a sheet has rounded, and all that are missing,
 * the rounded ones too.
 */
export async function findLines(name, lines, supplier) {
	const found = await rowsOfCells(name, lines, supplier);
	const has = (cells) => cells.some((cell) => found.has(cell));
	const rest = hasHead(lines) && !has(lines[0]) ? lines.slice(1) : lines;
	const distinct = [...new Map(rest.map((cells) =>
	    [(isCode(name) ? formsOf(cells[0]) : cells).at(-1), cells])).values()];
	const known = distinct.filter(has).map((cells) =>
	    cells.find((cell) => found.has(cell)));
	const stored = known.flatMap((cell) => found.get(cell)
	    .map((row) => [cell, row[name]]));
	const missing = distinct.filter((cells) => !has(cells))
	    .map(([cell]) => cell);

	return {values: [...new Set(stored.map(([, value]) => value))],
	    asked: distinct.length, missing,
	    padded: stored.filter(([cell, value]) => !isAsWritten(cell, value)),
	    rounded: missing.filter(isRounded)};
}
