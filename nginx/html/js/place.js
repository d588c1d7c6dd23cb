/*
 * place: what is shown, in the page's address, so that Back, a reload and a
 * link sent to a colleague come to the same:
 *
 *	#12345?gamme=A&nomenclature=1020&sort=-totalQuantite&article=01012384
 *	#12345?where=stockActuel%3Dgt.0&where=nbJoursDerniereVente%3Dgte.90
 *
 * A link to a view names it alone: #12345?view=shared.Vins
 */
import {isCondition} from "./conditions.js";


const FORMS = {
	search: /^[^\p{Cc}]{0,120}$/u,
	gamme: /^[ABCYZ]$/,
	nomenclature: /^(\d\d){1,3}$/,
	show: /^(pending|mine)$/,
	sort: /^-?\w{1,40}(-\d\d?)?(,-?\w{1,40}(-\d\d?)?){0,3}$/,
	view: /^(mine|shared)\.[^\p{Cc}]{1,100}$/u,
	article: /^[^\p{Cc}]{1,64}$/u,
};

function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return "";
	}
}

/* {search, gamme, …}; "" for what is not said, or makes no sense. */
export function placeOf(query) {
	const asked = new URLSearchParams(query);
	const place = {};

	for (const [name, form] of Object.entries(FORMS)) {
		const value = asked.get(name) ?? "";

		place[name] = form.test(value) ? value : "";
	}
	place.where = asked.getAll("where").filter(isCondition);
	return place;
}

/* The same, and which supplier. */
export function placeNow() {
	const [code, query = ""] = location.hash.slice(1).split(/\?(.*)/s);

	return {supplier: decoded(code), ...placeOf(query)};
}

export const queryOf = ({where, ...rest}) => String(new URLSearchParams(
    [...Object.entries(rest).filter(([name, value]) =>
	name in FORMS && value),
    ...where.map((condition) => ["where", condition])]));

/* The address of a view, for whichever supplier is shown. */
export const linkTo = (supplier, name, shared) => `${location.origin}${
    location.pathname}#${encodeURIComponent(supplier)}?${
    new URLSearchParams([["view", `${shared ? "shared" : "mine"}.${name}`]])}`;

/*
 * `step` makes it one that Back takes back; else it corrects the last. An
 * address that says nothing yet is nothing to go back to.
 */
export function keepPlace({supplier, ...rest}, step) {
	const query = queryOf(rest);
	const hash = `#${encodeURIComponent(supplier)}${
	    query === "" ? "" : `?${query}`}`;

	if (hash === location.hash)
		return;
	if (step && location.hash !== "")
		history.pushState(null, "", hash);
	else
		history.replaceState(null, "", hash);
}

/* Back, Forward, or another address by hand. */
export function onPlace(run) {
	addEventListener("popstate", () => run(placeNow()));
}

const HERE = "grid.here"; /* of this tab */

/* When the page goes, it notes where the grid is, as place() tells it. */
export function keepGridPlace(place) {
	addEventListener("pagehide", () => {
		try {
			sessionStorage.setItem(HERE, JSON.stringify(
			    {hash: location.hash, ...place()}));
		} catch {
			/* The next page begins at the first row. */
		}
	});
}

/* What a page has noted that was then reloaded; null for none. */
export function placeBefore() {
	const [{type} = {}] = performance.getEntriesByType("navigation");

	try {
		const kept = JSON.parse(sessionStorage.getItem(HERE));

		return type === "reload" && kept?.hash === location.hash &&
		    Number.isSafeInteger(kept.top) ? kept : null;
	} catch {
		return null;
	}
}
