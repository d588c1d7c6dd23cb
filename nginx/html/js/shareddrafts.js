/*
 * shareddrafts: the same edits on the server, so that another computer has them.
 *
 * The server takes edits only from a page that knows its newest ones. Where both
 * sides have changed, they are merged by what both had: see merging.js.
 */
import {isUnsure, ask, get} from "./api.js";
import {complain} from "./errors.js";
import {t} from "./text.js";

const SOON_MS = 1500;
const LATEST_MS = 60000;

/*
 * `textOf` promises a Map of edits as text, `asEdits` turns it back; now() gives
 * {user, supplier, edits}: Edits, others for each supplier; agreed() hears that
 * these are on the server, merged({taken, met, again}) of changes
 * elsewhere, or, with `again`, of all edits, which this browser did not have.
 */
export function sharedDrafts({textOf, asEdits, now, agreed, merged}) {
	const waiting = new Set(); /* edits that are looked at next */
	const known = new WeakSet(); /* edits that have been looked at */
	let running = Promise.resolve();
	let due = null; /* {of, timer} */
	let untell = null; /* what takes back that edits are not shared */
	let misses = 0; /* in a row */

	const path = ({supplier}) => "/app/kept/mine/" +
	    encodeURIComponent(`drafts.${supplier}`);

	const isNow = ({edits}) => now().edits === edits;

	/* {value, version} of the server; version 0: there is none. */
	async function theirs(of) {
		try {
			return (await get(path(of))).data;
		} catch (error) {
			if (error.status !== 404)
				throw error;
			return {value: "", version: 0};
		}
	}

	/* Takes what another window has kept. */
	async function look(of) {
		const {value, version} = await theirs(of);
		const {edits} = of;
		/* This browser had none when the supplier was opened. */
		const again = !known.has(edits) && edits.version === 0 &&
		    edits.size === 0 && edits.since.size === 0;

		known.add(edits);
		if (isNow(of) && version !== edits.version)
			merged({...edits.take(version, asEdits(value)), again});
	}

	/* Promises the version that the server has then, 0 for none. */
	async function give(of, edits, version) {
		if (edits.size > 0)
			return (await ask("PUT", path(of), {body: {value:
			    await textOf(edits), version}})).data.version;
		if (version !== 0)
			await ask("DELETE", path(of), {params: {version}})
			    .catch((error) => {
				if (error.status !== 404)
					throw error;
			    });
		return 0;
	}

	/*
	 * Another window was faster, or the answer was lost: that is looked at
	 * again, later each time.
	 */
	async function agree(of) {
		const sent = new Map(of.edits);

		try {
			of.edits.agree(await give(of, sent, of.edits.version),
			    sent);
			misses = 0;
			if (isNow(of))
				agreed();
		} catch (error) {
			if (error.status !== 409 && !isUnsure(error))
				throw error;
			misses++;
		}
		/* Those of another supplier are merged when it is shown again. */
		if (of.edits.since.size > 0 && isNow(of))
			soon(of);
	}

	async function turn(of) {
		waiting.delete(of.edits);
		try {
			if (isNow(of))
				await look(of);
			if (of.edits.since.size > 0)
				await agree(of);
			untell?.();
			untell = null;
		} catch (error) {
			untell ??= complain(t("drafts_unshared"), error,
			    {about: "drafts"});
		}
	}

	/* One after the other; each of the edits once. */
	function run(of = now()) {
		if (of.supplier === null || waiting.has(of.edits))
			return;
		waiting.add(of.edits);
		running = running.then(() => turn(of));
	}

	/* Those of a supplier that was left meanwhile go at once. */
	function soon(of, times = 2 ** misses) {
		if (due !== null && due.of.edits !== of.edits)
			run(due.of);
		clearTimeout(due?.timer);
		due = {of, timer: setTimeout(() => {
			due = null;
			run(of);
		}, Math.min(SOON_MS * times, LATEST_MS))};
	}

	return {
		/* Another supplier, or the page was come back to. */
		look: () => run(),
		/* The edits have changed, by the buyer. */
		changed: () => soon(now()),
		/* By another window of this browser, which shares them first. */
		heard: () => soon(now(), 4),
	};
}
