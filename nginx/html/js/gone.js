/*
 * gone: the buyer's unsaved edits of articles that the supplier has no more, and
 * of suppliers that exist no more: told, with a way to drop them. Nothing is
 * dropped by itself: the next import may bring the article back.
 */
import {ask, get, getLines, unquoted} from "./api.js";
import {quoted} from "./conditions.js";
import {complain} from "./errors.js";
import {listed} from "./mergenotice.js";
import {tell} from "./notice.js";
import {edited, editCount, setRange} from "./ranges.js";
import {codePortions, codes} from "./rows.js";
import {namesOf, remember} from "./store.js";
import {plural, t} from "./text.js";

const FEW = 2000; /* edits whose articles are asked for one by one */
const ALL = 1000000;
const PREFIX = "drafts.";

const drop = (run) => ({label: t("gone_drop"), run});

/* Which of `some` the supplier has: a Set. */
async function among(supplier, some) {
	if (some.length > FEW)
		return new Set(await codes({fournisseur: supplier}));
	const there = new Set();

	for (const part of codePortions(some))
		for (const line of await getLines("/api/v1/grid",
		    {fournisseur: supplier, fields: "codein",
			codein: `in.(${part.map(quoted).join(",")})`}))
			there.add(unquoted(line));
	return there;
}

/* supplier() is the code of the one that is shown, or null. */
export function goneArticles(supplier) {
	let seen = {}; /* {code, snapshot, there: Map codein -> whether it is} */
	let told = "", untell = null;
	let looks = 0; /* an answer to an older one may come later */

	function show(gone) {
		const name = gone.join();

		if (name === told)
			return;
		told = name;
		untell?.();
		untell = name === "" ? null : tell(plural("gone_articles",
		    gone.length, {list: listed(gone, (codein) => codein)}),
		{error: true, about: "gone", action: drop(() => {
			setRange(gone.map((codein) => ({codein})), undefined);
			tell(plural("dropped", gone.length), {about: "ranges"});
		})});
	}

	/* The supplier's newest generation; null when there is none at all. */
	async function generation(code) {
		try {
			return (await get("/api/v1/grid", {fournisseur: code,
			    limit: 1, fields: "codein"})).meta.snapshot;
		} catch (error) {
			if (error.status !== 404)
				throw error;
			return null;
		}
	}

	/* Edits change while the question is under way: those that are left. */
	async function find(code, mine) {
		const snapshot = await generation(code);

		if (seen.code !== code || seen.snapshot !== snapshot)
			seen = {code, snapshot, there: new Map()};
		const {there} = seen;
		const asked = edited().map(([codein]) => codein)
		    .filter((codein) => !there.has(codein));
		const found = asked.length === 0 || snapshot === null ?
		    new Set() : await among(code, asked);

		for (const codein of asked)
			there.set(codein, found.has(codein));
		if (mine === looks)
			show(edited().map(([codein]) => codein)
			    .filter((codein) => there.get(codein) === false));
	}

	/* What cannot be had now is looked for again. */
	return async function look() {
		const code = supplier(), mine = ++looks;

		if (code === null || editCount() === 0)
			show([]);
		else
			await find(code, mine).catch(() => null);
	};
}

/* Of all suppliers that have edits, kept here or on the server. */
async function suppliersWithEdits(user) {
	const {data} = await get("/app/kept");
	const here = `${PREFIX}${user}.`;

	return new Map([
		...namesOf(here).map((name) => [name.slice(here.length), null]),
		...data.filter(({name, shared}) => !shared &&
		    name.startsWith(PREFIX))
		    .map(({name, version}) => [name.slice(PREFIX.length),
			version])]);
}

async function dropAll(user, gone) {
	for (const [code, version] of gone) {
		if (version !== null)
			await ask("DELETE", "/app/kept/mine/" +
			    encodeURIComponent(PREFIX + code),
			{params: {version}});
		remember(`${PREFIX}${user}.${code}`, null);
	}
}

/* Once, when the page begins; edits that cannot be asked for are no news. */
export async function tellGoneSuppliers(user) {
	const kept = await suppliersWithEdits(user);

	if (kept.size === 0)
		return;
	const {data} = await get("/api/v1/fournisseurs", {limit: ALL});
	const there = new Set(data.map(({code}) => code));
	const gone = [...kept].filter(([code]) => !there.has(code));

	if (gone.length > 0)
		tell(t("gone_supplier", {list: listed(gone, ([code]) => code)}),
		    {error: true, about: "gone-suppliers", action: drop(() =>
			dropAll(user, gone).catch((error) =>
			    complain(t("gone_failed"), error)))});
}
