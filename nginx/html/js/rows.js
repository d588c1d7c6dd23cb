/*
 * rows: pages of a supplier's rows for the grid, fetched as they are needed.
 *
 * All pages come from one generation, the one that the first page named, until
 * it is no longer kept; then all begin anew.
 */
import {ApiError, get} from "./api.js";
import {freshen, moment} from "./fresh.js";
import {periodUntil} from "./period.js";

/* What each row needs whatever is shown. */
const ALWAYS = ["codein", "libelle1", "codeGamme", "codeGammeServeur"];

export const PAGE = 100;
const SLICE = 5000; /* rows at once, where few columns are wanted */

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
		const answer = await get("/api/v1/grid", {...this.#filters,
		    ...order, page, limit, fields, snapshot},
		{signal: this.#abort.signal});

		freshen(answer.data, asked);
		periodUntil(answer.meta.donneesAu);
		return answer;
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

/* What the filters look at, as the API does. */
const SEARCHED = ["libelle1", "codein", "gtin", "reference", "codeCentrale"];

const fold = (text) => String(text ?? "").normalize("NFD")
    .replace(/\p{M}/gu, "").toLowerCase();

function fits(row, {gamme, nomenclature, search}) {
	const text = SEARCHED.map((name) => fold(row[name])).join("\n");

	return (!gamme || row.codeGamme === gamme) &&
	    (!nomenclature || String(row.code3 ?? "").startsWith(nomenclature)) &&
	    fold(search).split(/\s+/).every((word) => text.includes(word));
}

/*
 * The rows of a few articles, one by one: the buyer's own edits, [codein,
 * edit]. One that the supplier has no more is shown by what the edit knows.
 */
export class ChosenRows {
	#filters;
	#edits;
	#fields;
	#rows = null;
	#within;
	#abort = new AbortController();

	/* `within` promises the codes that conditions leave; null: all. */
	constructor(filters, edits, fields, within = null) {
		this.#filters = filters;
		this.#edits = edits;
		this.#within = within;
		this.#fields = [...new Set([...ALWAYS, ...SEARCHED, "code3",
		    ...fields])];
	}

	close() {
		this.#abort.abort();
	}

	async #row(codein, edit) {
		const asked = moment();

		try {
			const {data} = await get(
			    `/api/v1/products/${encodeURIComponent(codein)}`,
			    {fournisseur: this.#filters.fournisseur,
				fields: this.#fields.join(",")},
			    {signal: this.#abort.signal});

			freshen([data], asked);
			return data;
		} catch (error) {
			if (error.status !== 404)
				throw error;
			return {...Object.fromEntries(this.#fields.map(
			    (name) => [name, null])), codein,
			libelle1: edit.libelle1, codeGamme: edit.codeGamme};
		}
	}

	async #load() {
		const codes = await this.#within?.();
		const rows = [], left = [...this.#edits]
		    .filter(([codein]) => codes?.has(codein) ?? true);
		const worker = async () => {
			for (let one; (one = left.pop()) !== undefined;)
				rows.push(await this.#row(...one));
		};

		await Promise.all(Array.from({length: 4}, worker));
		return rows.filter((row) => fits(row, this.#filters));
	}

	async #sorted({sort = "codein", order = "asc"}) {
		this.#rows ??= this.#load();
		return [...await this.#rows].sort(by(sort, order));
	}

	async page(page, order) {
		const rows = await this.#sorted(order);

		return {rows: rows.slice((page - 1) * PAGE, page * PAGE),
		    total: rows.length, meta: null};
	}

	async slice(from, to, order) {
		return (await this.#sorted(order)).slice(from, to);
	}
}

/* As the API sorts: empty values last, ties by codein. */
function by(name, order) {
	const sign = order === "asc" ? 1 : -1;
	const compare = (a, b) => typeof a === "string" ?
	    a.localeCompare(b) : a - b;

	return (a, b) => {
		if (a[name] == null || b[name] == null)
			return (a[name] == null) - (b[name] == null);
		return sign * compare(a[name], b[name]) ||
		    compare(a.codein, b.codein);
	};
}
