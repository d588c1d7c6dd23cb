/*
 * watching: what others do meanwhile: proposals that come and go, and the
 * buyer's own edits on another computer. Looked for while the page is seen.
 */
import {awaitsLogin} from "./api.js";
import {complain} from "./errors.js";
import {lookForEdits, refreshPending} from "./ranges.js";
import {t} from "./text.js";

const POLL_MS = 15000;

/*
 * `seen` says whether there is anything to look for; changed() hears of it.
 * `others` looks for what is gone.
 */
export function watch(seen, changed, others) {
	let asked = new AbortController();
	let untell = null; /* what takes back that proposals cannot be had */

	async function look() {
		asked.abort();
		asked = new AbortController();
		try {
			if (await refreshPending(asked.signal))
				changed();
			untell?.();
			untell = null;
		} catch (error) {
			if (error.name !== "AbortError")
				untell ??= complain(t("pending_failed"), error);
		}
	}

	function lookIfSeen() {
		if (!seen() || document.hidden || awaitsLogin())
			return;
		look();
		lookForEdits();
		others();
	}

	setInterval(lookIfSeen, POLL_MS);
	addEventListener("focus", lookIfSeen);
	return {look};
}
