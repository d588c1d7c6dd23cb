/*
 * rows: pages of a supplier's rows for the grid, fetched as they are needed.
 *
 * All pages come from one generation, the one that the first page named, until
 * it is no longer kept; then all begin anew.
 */
import {ApiError, get, getLines, getNow, unquoted} from "./api.js";
import {shownColumns} from "./columns.js";
import {quoted} from "./conditions.js";
import {freshen, moment} from "./fresh.js";
import {fillMonths} from "./months.js";
import {periodOf} from "./period.js";

/* What each row needs whatever is shown. */
const ALWAYS = ["codein", "libelle1", "codeGamme", "codeGammeServeur"];

const namesShown = () => shownColumns().map(({name}) => name);

export const PAGE = 100;
const SLICE = 5000; /* rows at once, where few columns are wanted */

/* All codes of the rows that `filters`, and an order, name. */
export const codes = async (filters, signal) => (await getLines("/api/v1/grid",
    {...filters, fields: "codein"}, {signal})).map(unquoted);

/* An answer with rows that was asked for at `asked`, ready to be shown. */
function taken(answer, asked) {
	freshen(answer.data, asked);
	periodOf(answer.meta);
	fillMonths(answer.data, namesShown());
	return answer;
}

export class Rows {
	#filters;
	#fields;
	#first = null; /* the page that names the generation */
	#abort = new AbortController();

	/* filters: the parameters of /grid that choose rows */
	constructor(filters, fields) {
		this.#filters = filters;
		this.#fields = [...new Set([...ALWAYS, ...fields])].join(",");
	}

	close() {
		this.#abort.abort();
	}

	async #ask(page, order, snapshot, limit = PAGE, fields = this.#fields) {
		const asked = moment();

		return taken(await get("/api/v1/grid", {...this.#filters,
		    ...order, page, limit, fields, snapshot},
		{signal: this.#abort.signal}), asked);
	}

	/* {rows, total, meta}; order is {sort, order}. Pages count from 1. */
	async page(page, order) {
		let answer;

		if (this.#first === null) {
			this.#first = this.#ask(page, order);
			this.#first.catch(() => {
				this.#first = null;
			});
			answer = await this.#first;
		} else {
			const {meta} = await this.#first;

			answer = await this.#within(page, order, meta.snapshot);
		}
		return {rows: answer.data, total: answer.pagination.total,
		    meta: answer.meta};
	}

	/* Rows from place `from` to before `to`, with what ALWAYS comes, or all. */
	async slice(from, to, order, whole = false) {
		const {meta} = await this.#first;
		const first = Math.floor(from / SLICE);
		const pages = [];

		for (let page = first; page * SLICE < to; page++)
			pages.push(await this.#within(page + 1, order,
			    meta.snapshot, SLICE,
			    whole ? this.#fields : ALWAYS.join(",")));
		return pages.flatMap(({data}) => data)
		    .slice(from - first * SLICE, to - first * SLICE);
	}

	/* The first rows, at once: see getNow(). */
	now(count, order) {
		return taken(getNow("/api/v1/grid", {...this.#filters, ...order,
		    limit: count, fields: this.#fields}), moment()).data;
	}

	async #within(page, order, snapshot, ...how) {
		try {
			return await this.#ask(page, order, snapshot, ...how);
		} catch (error) {
			/* The generation is gone: the caller begins anew. */
			if (error instanceof ApiError && error.status === 404)
				error.replaced = true;
			throw error;
		}
	}
}

/*
 * The rows of the buyer's own edits, [codein, edit], that the filters leave: the
 * API tells all codes in order, then the rows of a page by their codes. An
 * article that the supplier has no more is shown by what the edit knows.
 */
export class EditedRows {
	#filters;
	#edits;
	#fields;
	#gone;
	#codes = new Map(); /* order -> promise of the codes, in order */
	#known = new Map(); /* order -> these codes, once they have come */
	#abort = new AbortController();

	/* With `gone` the articles that the filters leave out are shown, too. */
	constructor(filters, edits, fields, gone) {
		this.#filters = filters;
		this.#edits = new Map(edits);
		this.#gone = gone;
		this.#fields = [...new Set([...ALWAYS, ...fields])];
	}

	close() {
		this.#abort.abort();
	}

	async #ordered(order) {
		const all = await codes({...this.#filters, ...order},
		    this.#abort.signal);
		const there = all.filter((codein) => this.#edits.has(codein));

		if (!this.#gone || there.length === this.#edits.size)
			return there;
		return [...new Set([...there, ...this.#edits.keys()])];
	}

	#inOrder(order) {
		const name = JSON.stringify(order);

		if (!this.#codes.has(name))
			this.#codes.set(name, this.#ordered(order).then((list) => {
				this.#known.set(name, list);
				return list;
			}));
		return this.#codes.get(name);
	}

	#lost(codein) {
		const {libelle1, codeGamme} = this.#edits.get(codein);

		return {...Object.fromEntries(this.#fields.map(
		    (name) => [name, null])), codein, libelle1, codeGamme};
	}

	#question = (part) => ["/api/v1/grid",
	    {fournisseur: this.#filters.fournisseur,
		codein: `in.(${part.map(quoted).join(",")})`,
		fields: this.#fields.join(",")}];

	/* `answers` are of all portions of `some`. */
	#together(some, answers) {
		const rows = new Map(answers.flatMap(({data}) => data)
		    .map((row) => [row.codein, row]));

		return {rows: some.map((codein) => rows.get(codein) ??
		    this.#lost(codein)), meta: answers.at(-1)?.meta ?? null};
	}

	async #rows(some) {
		const asked = moment(), answers = [];

		for (const part of codePortions(some))
			answers.push(taken(await get(...this.#question(part),
			    {signal: this.#abort.signal}), asked));
		return this.#together(some, answers);
	}

	/* The first rows, at once, where their codes have come: see getNow(). */
	now(count, order) {
		const all = this.#known.get(JSON.stringify(order));

		if (all === undefined)
			throw new ApiError(503, null);
		const some = all.slice(0, count);

		return this.#together(some, [...codePortions(some)].map((part) =>
		    taken(getNow(...this.#question(part)), moment()))).rows;
	}

	/* Promises all codes, in this order. */
	codes = (order) => this.#inOrder(order);

	/* Promises the rows of these codes. */
	rowsOf = async (some) => (await this.#rows(some)).rows;

	async page(page, order) {
		const all = await this.#inOrder(order);

		return {...await this.#rows(all.slice((page - 1) * PAGE,
		    page * PAGE)), total: all.length};
	}

	/* Whole rows are asked for; else what the edits know is enough. */
	async slice(from, to, order, whole = false) {
		const some = (await this.#inOrder(order)).slice(from, to);

		return whole ? (await this.#rows(some)).rows :
		    some.map((codein) => ({codein, ...this.#edits.get(codein)}));
	}
}

const ADDRESS = 5000; /* bytes of codes; an address may have 12 KB */
const LISTED = 1000; /* values that a condition may list */

/* Lists of codes that each fit into an address. */
export function* codePortions(list) {
	let part = [], length = 0;

	for (const codein of list) {
		const size = encodeURIComponent(codein).length + 3;

		if (part.length === LISTED ||
		    (length + size > ADDRESS && part.length > 0)) {
			yield part;
			part = [];
			length = 0;
		}
		part.push(codein);
		length += size;
	}
	if (part.length > 0)
		yield part;
}
