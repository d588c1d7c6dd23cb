/*
 * relative: months in questions to the API. The page counts them back from the
 * newest, "sales12m-0", the API has them by the calendar, "sales12m.202610".
 */
import {isOneMonth, monthInApi} from "./months.js";

const days = new Map(); /* supplier -> the last day of its newest month */

export const dayOf = ({fournisseur}) => days.get(fournisseur);

/* An answer told the day; true when it is another than before. */
export function noteDay({fournisseur}, day) {
	if (fournisseur == null || day == null ||
	    days.get(fournisseur) === day)
		return false;
	days.set(fournisseur, day);
	return true;
}

const unsigned = (word) => word.replace(/^-/, "");

/* Whether a question names such a month, to sort by or to filter on. */
export const namesMonths = ({sort = "", ...others}) =>
    Object.keys(others).some(isOneMonth) ||
    sort.split(",").some((word) => isOneMonth(unsigned(word)));

function keyInApi(word, day) {
	const name = unsigned(word);

	return isOneMonth(name) ? word.replace(name, monthInApi(name, day)) :
	    word;
}

/* The same question with the API's names. */
export function inApi({sort, ...others}, day) {
	const params = Object.fromEntries(Object.entries(others)
	    .map(([name, value]) => [isOneMonth(name) ?
		monthInApi(name, day) : name, value]));

	if (sort)
		params.sort = sort.split(",").map((word) =>
		    keyInApi(word, day)).join(",");
	return params;
}
