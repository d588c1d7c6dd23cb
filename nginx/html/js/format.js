/* format: numbers, dates and months as the browser's language writes them. */
import {language} from "./text.js";

const NONE = "–";

/* With a minus sign as wide as "+", which the API's trends have, too. */
function number(options) {
	const format = new Intl.NumberFormat(language,
	    {signDisplay: "negative", ...options});

	return (value) => value == null ? NONE : value < 0 ?
	    format.format(value).replace("-", "\u2212") : format.format(value);
}

export const integer = number({maximumFractionDigits: 0});
export const decimal = number({maximumFractionDigits: 1});
export const tenths = number({minimumFractionDigits: 1,
    maximumFractionDigits: 1});

/* A whole number leaves room for the tenth that others in its column have. */
export function quantity(value) {
	if (value == null || Number.isInteger(Math.round(value * 10) / 10))
		return integer(value) + "\u2008\u2007";
	return tenths(value);
}

export const money = number({style: "currency", currency: "EUR",
    maximumFractionDigits: 0});
export const price = number({style: "currency", currency: "EUR",
    minimumFractionDigits: 2, maximumFractionDigits: 2});
export const percent = number({style: "percent", minimumFractionDigits: 1,
    maximumFractionDigits: 1});
export const change = number({style: "percent", maximumFractionDigits: 0,
    signDisplay: "exceptZero"});
export const points = number({style: "percent", minimumFractionDigits: 1,
    maximumFractionDigits: 1, signDisplay: "exceptZero"});
export const compact = number({notation: "compact",
    maximumFractionDigits: 1});
export const compactMoney = number({style: "currency", currency: "EUR",
    notation: "compact", maximumFractionDigits: 1});

const plain = new Intl.NumberFormat(language,
    {useGrouping: false, maximumFractionDigits: 6});
const plainPercent = new Intl.NumberFormat(language,
    {style: "percent", useGrouping: false, maximumFractionDigits: 4});

/* As a spreadsheet in this language reads a number: no groups, no currency. */
export const forSheet = (value) => plain.format(value);
export const percentForSheet = (value) =>
    plainPercent.format(value).replace(/\s/g, "");

const dayFormat = new Intl.DateTimeFormat(language,
    {day: "2-digit", month: "2-digit", year: "numeric", timeZone: "UTC"});
const timeFormat = new Intl.DateTimeFormat(language,
    {dateStyle: "medium", timeStyle: "short"});
const monthFormat = new Intl.DateTimeFormat(language,
    {month: "short", timeZone: "UTC"});
const monthYearFormat = new Intl.DateTimeFormat(language,
    {month: "long", year: "numeric", timeZone: "UTC"});

export function day(text) {
	return text == null ? NONE : dayFormat.format(new Date(text));
}

export function time(text) {
	return text == null ? NONE : timeFormat.format(new Date(text));
}

/* "202511" or "2025-11" */
function monthDate(key) {
	const digits = key.replace("-", "");

	return Date.UTC(+digits.slice(0, 4), +digits.slice(4, 6) - 1, 1);
}

export function month(key) {
	return monthFormat.format(monthDate(key)).replace(/\.$/, "");
}

/* "oct. 26", in one line */
export const monthOfYear = (key) => `${monthFormat.format(monthDate(key))
    }\u00a0${key.slice(2, 4)}`;

export function monthYear(key) {
	return monthYearFormat.format(monthDate(key));
}
