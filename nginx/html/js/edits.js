/*
 * edits: the buyer's own edits of one supplier, Map codein -> {codein, gamme,
 * codeGamme, gammeAValider}, with what was changed since they were kept on the
 * server or seen there, whose version that is: see merging.js.
 */
import {isSame, merge} from "./merging.js";

export class Edits extends Map {
	version = 0; /* of the common set; 0: the server has none */
	since = new Map();

	/* `one` null or undefined: no edit any more. */
	put(codein, one) {
		if (!this.since.has(codein))
			this.since.set(codein, this.get(codein) ?? null);
		this.#set(codein, one);
		if (isSame(this.since.get(codein), one))
			this.since.delete(codein);
	}

	#set(codein, one) {
		if (one == null)
			this.delete(codein);
		else
			this.set(codein, one);
	}

	/* The server has the Map `sent`; changes since it was sent stay. */
	agree(version, sent) {
		this.version = version;
		for (const codein of [...this.since.keys()]) {
			const then = sent.get(codein) ?? null;

			if (isSame(this.get(codein), then))
				this.since.delete(codein);
			else
				this.since.set(codein, then);
		}
	}

	/* The server has the Map `theirs`. Answers {taken, met} of merge(). */
	take(version, theirs) {
		const {edits, since, taken, met} =
		    merge(this, this.since, theirs);

		this.version = version;
		this.since = since;
		this.clear();
		for (const [codein, one] of edits)
			this.set(codein, one);
		return {taken, met};
	}

	/*
	 * Another window of this browser has changed [codein, had, one]. The same
	 * change may have come from the server before. Of an article that both
	 * changed at once, an edit stands rather than none; of two edits both
	 * windows choose the same by `yields`. Answers {taken, met}.
	 */
	hear(puts, yields) {
		const taken = [], met = [];

		for (const [codein, had, one] of puts) {
			const mine = this.get(codein) ?? null;
			const meets = !isSame(mine, had) &&
			    this.since.has(codein);
			const now = !meets ? one : mine === null || one === null ?
			    mine ?? one : yields ? one : mine;

			if (isSame(mine, one))
				continue;
			if (meets && mine?.gamme !== one?.gamme)
				met.push({codein, mine, theirs: one, now});
			else if (!meets)
				taken.push({codein, was: mine, now});
			this.put(codein, now);
		}
		return {taken, met};
	}
}
