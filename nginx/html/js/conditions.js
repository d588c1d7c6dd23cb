/*
 * conditions: filters on columns, as the API takes them: "stockActuel=gt.0".
 * A buyer sees them as words and values, such as "Stock ≥ 1".
 */
import {column, columnNames, isOwn, shownColumns} from "./columns.js";
import * as format from "./format.js";
import {isOneMonth} from "./months.js";
import {french, t} from "./text.js";

const MOST_LISTED = 500; /* an address has no room for more */

const PERCENTS = new Set(["percent", "change", "points"]);
const OPERATOR = /^(not\.)?(eq|neq|gt|gte|lt|lte|in|like|ilike|is)\./;
const MAP = /^((sales|stock|receptions)12m(ByStore)?|sales12mN1|qteReseauByMonth)$/;
const FORM = /^([\w.-]{1,80})=([^\p{Cc}]{1,8000})$/u;

/*
 * A number with the marks that people and sheets use. "1,000" is a thousand in
 * English; "1.000" in French may be that or one, and is none.
 */
function plainNumber(text) {
	const typed = text.replace(/[\s%€]/g, "").replace("\u2212", "-");
	const commas = /^-?[1-9]\d{0,2}(,\d{3})+$/.test(typed);

	if (/^-?\d{1,3}(,\d{3})+\.\d*$/.test(typed) || (commas && !french))
		return typed.replaceAll(",", "");
	if (/^-?\d{1,3}(\.\d{3})+,\d*$/.test(typed))
		return typed.replaceAll(".", "").replace(",", ".");
	if (french && /^-?[1-9]\d{0,2}\.\d{3}$/.test(typed))
		return "?";
	return typed.replace(",", ".");
}

const number = {
	operators: ["gte", "lte", "eq", "null", "not_null"],
	/* What was typed as the API writes it, or null when it is no number. */
	read(text, kind) {
		const value = Number(plainNumber(text));

		if (text.trim() === "" || !Number.isFinite(value))
			return null;
		return String(PERCENTS.has(kind) ?
		    Number((value / 100).toPrecision(12)) : value);
	},
	show(text, kind) {
		const value = text.trim() === "" ? NaN : Number(text);

		if (!Number.isFinite(value))
			return text;
		return PERCENTS.has(kind) ?
		    format.percent(value) : format.decimal(value);
	},
};
const text = {
	operators: ["contains", "begins", "list", "null", "not_null"],
	read: (words) => words.replace(/\p{Cc}+/gu, " ").trim() || null,
	show: (words) => words,
};
const day = {
	operators: ["gte", "lte", "null", "not_null"],
	read: (date) => /^\d{4}-\d\d-\d\d$/.test(date) ? date : null,
	show: (date) => Number.isNaN(Date.parse(date)) ? date : format.day(date),
};
const few = {operators: ["list", "null", "not_null"], read: text.read,
    show: (words) => words};

const TRENDS = ["up", "flat", "down"];

const sorts = {code: text, text, label: text, day, range: few, gamme: few,
    trend: {...few, operators: ["list"],
	show: (words) => words.split(", ").map((one) => TRENDS.includes(one) ?
	    t(one) : one).join(", ")}};

const sortOf = (kind) => sorts[kind] ?? number;

/* Which columns can be filtered: all but the maps, and the months shown. */
export const filterable = () => [...columnNames()
    .filter((name) => !isOwn(name)).map(column)
    .filter(({kind}) => kind !== "series"),
...shownColumns().map(({name}) => name).filter(isOneMonth).map(column)];

/* Those whose values the API can count. */
const COUNTED = new Set(["marque", "codeGamme", "trend"]);

export const isCounted = (name) => COUNTED.has(name);

/* A list of values that can be counted comes first. */
export const operatorsOf = ({name, kind}) => isCounted(name) ?
    [...new Set(["list", ...sortOf(kind).operators])] : sortOf(kind).operators;

/* The values a column is one of, where they are few; else null. */
export function valuesOf(kind) {
	if (kind === "trend")
		return TRENDS;
	return sortOf(kind) === few ? ["A", "B", "C", "Y", "Z"] : null;
}

/* A value of a column in words. */
export const valueWords = (kind, value) => sortOf(kind).show(value, kind);

/* A value as it stands in a list of the API. */
export const quoted = (one) => /[,()"\\]|^\s|\s$/.test(one) ?
    `"${one.replace(/["\\]/g, "\\$&")}"` : one;

/* Why so many values make no list; undefined when they do. */
export const listWrong = (count) => count === 0 ? t("filter_value_needed") :
    count > MOST_LISTED ? t("filter_too_many", {n: format.integer(count),
	most: format.integer(MOST_LISTED)}) : undefined;

function listOf(name, values) {
	const condition = `${name}=in.(${values.map(quoted).join(",")})`;
	const wrong = listWrong(values.length) ??
	    (FORM.test(condition) ? undefined : t("filter_too_long"));

	return wrong === undefined ? {condition} : {wrong};
}

/*
 * What the API is asked for what was chosen and typed, a list of values for the
 * operator "list": {condition}, or {wrong}, the reason in words.
 */
export function conditionOf({name, kind}, operator, words) {
	const sort = sortOf(kind);

	if (operator === "null" || operator === "not_null")
		return {condition: `${name}=is.${operator}`};
	if (operator === "list")
		return listOf(name, words);
	const value = sort.read(words, kind);

	if (value === null)
		return {wrong: t(sort === number ? "filter_number_needed" :
		    "filter_value_needed")};
	if (operator === "contains")
		return {condition: `${name}=ilike.*${value}*`};
	if (operator === "begins")
		return {condition: `${name}=ilike.${value}*`};
	return {condition: `${name}=${operator}.${value}`};
}

/* The name that a condition is on. */
export const nameIn = (condition) => FORM.exec(condition)[1];

/* Whether a condition is on a column. */
export const isOn = (name, condition) => nameIn(condition) === name;

/* The values of a condition that lists some; [] for another one. */
export function listedIn(condition) {
	const [, list] = /^in\.\((.*)\)$/.exec(FORM.exec(condition)[2]) ?? [];

	return list === undefined ? [] : [...list.matchAll(
	    /"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(([, quotedOne, plain]) =>
	    quotedOne?.replace(/\\(.)/g, "$1") ?? plain);
}

const SHOWN = 5; /* values of a list */

/* A list that was pasted may have some hundred. */
const shortList = (values) => values.slice(0, SHOWN).join(", ") +
    (values.length > SHOWN ? `… (${format.integer(values.length)})` : "");

/* [operator, value] of a condition; null for one of another form. */
function parted(condition) {
	const forms = [[/^is\.(null|not_null)$/, ([, is]) => [is, ""]],
	    [/^ilike\.\*(.*)\*$/, ([, words]) => ["contains", words]],
	    [/^ilike\.(.*)\*$/, ([, words]) => ["begins", words]],
	    [/^in\.\(.*\)$/, () => ["list", shortList(listedIn(condition))]],
	    [/^(gte|lte|gt|lt|eq|neq)\.(.*)$/, ([, op, value]) => [op, value]]];

	for (const [form, read] of forms) {
		const found = form.exec(FORM.exec(condition)[2]);

		if (found)
			return read(found);
	}
	return null;
}

/* A condition in words; one of another form as it stands in the address. */
export function inWords(condition) {
	const name = nameIn(condition);
	const known = isOneMonth(name) ? column(name) :
	    filterable().find((one) => one.name === name);
	const [operator, value] = parted(condition) ?? [];

	if (known === undefined || operator === undefined)
		return condition;
	const shown = value === "" ? "" :
	    sortOf(known.kind).show(value, known.kind);

	return `${known.label} ${t(`op_${operator}`)} ${shown}`.trim();
}

/*
 * Whether the API takes the words as a filter on a column. An address says what
 * it likes: a name that is no column could be any parameter of a request, the
 * supplier's among them, or one that the API passes over.
 */
export function isCondition(words) {
	const [, name = "", rest = ""] = FORM.exec(words) ?? [];
	const [base, part] = name.split(".");

	if (!OPERATOR.test(rest))
		return false;
	if (isOneMonth(name))
		return true;
	return part === undefined ?
	    filterable().some((one) => one.name === name) : MAP.test(base);
}

/* Parameters of a request: {stockActuel: ["gte.1", "lte.9"], …}. */
export function paramsOf(where) {
	const params = {};

	for (const condition of where) {
		const [, name, rest] = FORM.exec(condition);

		(params[name] ??= []).push(rest);
	}
	return params;
}

/* What buyers ask each day, by one click. */
export const READY = [
	{name: "ready_sleeping",
	    where: ["stockActuel=gt.0", "nbJoursDerniereVente=gte.90"]},
	{name: "ready_out", where: ["stockActuel=lte.0", "totalQuantite=gt.0"]},
	{name: "ready_much", where: ["couvertureJours=gte.180"]},
	{name: "ready_margin", where: ["tauxMarge=lt.0.15", "totalCa=gt.0"]},
	{name: "ready_rising", where: ["trend=in.(up)", "stockActuel=lte.0"]},
];
