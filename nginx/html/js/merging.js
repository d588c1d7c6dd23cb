/*
 * merging: edits of one supplier that two windows changed apart, brought
 * together article by article, by what both had in common.
 *
 * The common set is the one that a window last kept on the server, or saw there.
 * `since` has what the common set has at the articles that were changed here
 * since: Map codein -> edit, or null for none.
 */

/* Whether two edits, null or undefined for none, are alike. */
export const isSame = (one, other) => one == null || other == null ?
    one == other :
    one.gamme === other.gamme && one.codeGamme === other.codeGamme &&
	one.gammeAValider === other.gammeAValider;

/* Alike for a person: what was seen when an edit was made is not. */
const isLike = (one, other) => (one == null) === (other == null) &&
    one?.gamme === other?.gamme;

/*
 * What stands of an article that both sides have changed: an edit rather than
 * none, so that no edit is lost; else the one of this window.
 */
const standing = (mine, theirs) => mine ?? theirs;

/*
 * `edits` are those of here, `theirs` those of the other side, Map codein ->
 * edit. Answers {edits, since, taken, met}: the merged edits; what they differ
 * in from theirs; taken, [{codein, was, now}], changed by the other side alone;
 * met, [{codein, mine, theirs, now}], changed by both.
 */
export function merge(edits, since, theirs) {
	const merged = new Map(theirs), left = new Map();
	const taken = [], met = [];

	for (const [codein, common] of since) {
		const mine = edits.get(codein) ?? null;
		const other = theirs.get(codein) ?? null;
		const meets = !isSame(common, other) && !isLike(mine, other);
		const now = isSame(common, other) ? mine :
		    standing(mine, other);

		if (meets)
			met.push({codein, mine, theirs: other, now});
		if (now === null)
			merged.delete(codein);
		else
			merged.set(codein, now);
		if (!isSame(now, other))
			left.set(codein, other);
	}
	for (const [codein, now] of theirs) {
		const was = edits.get(codein) ?? null;

		if (since.has(codein))
			continue;
		if (!isLike(was, now))
			taken.push({codein, was, now});
		/* With the label, which the other side may not know. */
		if (isSame(was, now))
			merged.set(codein, was);
	}
	for (const [codein, was] of edits)
		if (!since.has(codein) && !theirs.has(codein))
			taken.push({codein, was, now: null});
	return {edits: merged, since: left, taken, met};
}
