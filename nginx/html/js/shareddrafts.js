/*
 * shareddrafts: the same edits on the server, so that another computer has them.
 *
 * The browser notes which version it knows, and whether it has changed edits
 * since. Where both have changed, the edits of both are kept, and of an article
 * that both have, this browser's.
 */
import {ApiError, ask, get, remove} from "./api.js";
import {complain} from "./errors.js";
import {recall, remember} from "./store.js";
import {t} from "./text.js";

const SOON_MS = 1500;

/*
 * `textOf` promises a Map of edits as text, `asEdits` turns it back; now() gives
 * {user, supplier, edits}; found(edits) takes those that came from elsewhere.
 */
export function sharedDrafts({textOf, asEdits, now, found}) {
	let timer = null, busy = false, told = false;
	let changes = 0; /* by the buyer, here */

	const path = ({supplier}) => "/app/kept/mine/" +
	    encodeURIComponent(`drafts.${supplier}`);
	const noteName = ({user, supplier}) => `synced.${user}.${supplier}`;

	function noteOf(of) {
		const note = recall(noteName(of));

		return Number.isSafeInteger(note?.version) ?
		    {version: note.version, dirty: note.dirty === true} :
		    {version: 0, dirty: of.edits.size > 0};
	}

	const note = (of, version, dirty) =>
	    remember(noteName(of), {version, dirty});

	const isNow = (of) => now().user === of.user &&
	    now().supplier === of.supplier;

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

	/* Takes what another computer has kept; true when all is agreed. */
	async function look(of) {
		const {value, version} = await theirs(of);
		const known = noteOf(of);

		if (!isNow(of) || version === known.version)
			return !known.dirty;
		const other = asEdits(value);

		if (known.dirty)
			for (const [codein, one] of now().edits)
				other.set(codein, one);
		note(of, version, known.dirty);
		found(other);
		return !known.dirty;
	}

	/* Promises the version that the server has then, 0 for none. */
	async function give(of, edits, version) {
		if (edits.size === 0) {
			if (version !== 0)
				await remove(path(of)).catch((error) => {
					if (error.status !== 404)
						throw error;
				});
			return 0;
		}
		const {data} = await ask("PUT", path(of),
		    {body: {value: await textOf(edits), version}});

		return data.version;
	}

	async function agree(of) {
		const before = changes;

		try {
			const version = await give(of, now().edits,
			    noteOf(of).version);

			/* Changed meanwhile: that goes next. */
			note(of, version, changes !== before);
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 409)
				throw error;
			await look(of);
		}
	}

	async function run() {
		const of = now();

		if (busy || of.supplier === null)
			return;
		busy = true;
		try {
			if (!await look(of) && isNow(of))
				await agree(of);
			told = false;
			if (isNow(of) && noteOf(of).dirty)
				soon();
		} catch (error) {
			if (!told)
				complain(t("drafts_unshared"), error,
				    {about: "drafts"});
			told = true;
		} finally {
			busy = false;
		}
	}

	function soon() {
		clearTimeout(timer);
		timer = setTimeout(run, SOON_MS);
	}

	return {
		/* Another supplier, or the page was come back to. */
		look: run,
		/* The edits have changed, by the buyer. */
		changed() {
			const of = now();

			changes++;
			note(of, noteOf(of).version, true);
			soon();
		},
	};
}
