/*
 * sheetcolumns: the columns that a spreadsheet gets for those of the page, by
 * copy or in a file: a head, what its values are, and the value of a row. A
 * series by months is a column a month.
 */
import {trendText} from "./cells.js";
import {column} from "./columns.js";
import * as format from "./format.js";
import {monthKeys} from "./period.js";
import {proposal} from "./ranges.js";

const TYPES = {money: "money", price: "price", percent: "percent",
    points: "percent", change: "percent", quantity: "number",
    decimal: "number", tenths: "number", integer: "number", day: "day",
    proposed: "time"};

const values = {
	trend: (row, name) => row[name] && trendText(row[name]),
	author: ({codein}) => proposal(codein)?.author,
	proposed: ({codein}) => proposal(codein)?.at,
	motif: ({codein}) => proposal(codein)?.motif,
};

/* The network's months are written with a dash. */
const ofMonth = (map, key) => map?.[key] ??
    map?.[`${key.slice(0, 4)}-${key.slice(4)}`];

const monthsOf = ({name, label, width}) => monthKeys().map((key) =>
    ({head: `${label} ${format.monthOfYear(key)}`, type: "number", width,
	valueOf: (row) => ofMonth(row[name], key)}));

/* [{head, type, width, valueOf(row)}]; the type "text" is for codes, too. */
export const sheetColumns = (names) => names.map(column).flatMap((one) =>
    one.kind === "series" ? monthsOf(one) :
	[{head: one.label, type: TYPES[one.kind] ?? "text", width: one.width,
	    valueOf: (row) => (values[one.kind] ??
		((of, name) => of[name]))(row, one.name)}]);
