/*
 * signs: + and - answer proposals by one key: those of the rows that are chosen,
 * else the one of the cursor's row, and in the list of what waits the next one
 * that no earlier key answers.
 */
import {decide, decideNow, undoOf} from "./decide.js";
import {inTurn} from "./deciding.js";
import {complain} from "./errors.js";
import {tell} from "./notice.js";
import {canUndo, edit, plan, proposal, refreshPending} from "./ranges.js";
import {plural, t} from "./text.js";

export const SIGNS = {"+": "save", "-": "cancel"};

const MANY = 100; /* proposals that are answered without a word before */
const TOLD = {save: "accepted", cancel: "rejected"};

/*
 * supplier() gives it; inWaiting() says whether the rows are those at which a
 * proposal waits; chosen(row) gives the chosen rows, or promises them, null for
 * none.
 */
export function makeSigns(grid, {supplier, inWaiting, chosen, undoStep}) {
	/* Proposals that keys have decided: codein -> {step, words}. */
	const decided = new Map();
	const taken = new Set(); /* articles whose keys are not answered yet */
	const of = () => ({supplier: supplier(), scope: "selection", undoStep});

	const isDecided = (codein) => decided.has(codein) &&
	    canUndo(decided.get(codein).step);

	function tellNone(codein) {
		const before = isDecided(codein) ? decided.get(codein) : null;

		tell(before?.words ?? t("waits_not"), {about: "ranges",
		    action: undoOf(before?.step, {undoStep})});
	}

	/*
	 * The proposal at a row; where none is known, as the server has it now.
	 * One that the buyer may not expect is shown, and not decided.
	 */
	async function proposalAt({codein}) {
		const code = supplier().code;
		const expected = inWaiting() && !isDecided(codein);

		if (proposal(codein) !== undefined)
			return proposal(codein);
		tell(t("waits_asked"), {about: "ranges"});
		await refreshPending();
		const found = proposal(codein);

		if (code !== supplier().code)
			return undefined;
		if (found !== undefined && (expected || edit(codein)))
			return found;
		if (found === undefined)
			tellNone(codein);
		else
			tell(t("waits_new", found), {about: "ranges"});
		return undefined;
	}

	/* One proposal, saved or rejected by a key: the edit over it stays. */
	async function decideRow(what, row, code) {
		if (code !== supplier().code)
			return;
		const proposed = await proposalAt(row);

		if (proposed === undefined)
			return;
		const {codein} = row, {gamme} = proposed;

		if (edit(codein)) {
			tell(t("waits_below", proposed), {about: "ranges"});
			return;
		}
		const step = await decideNow(what, plan([codein]), of(),
		    t(TOLD[what], {gamme, codein}));

		if (step !== undefined)
			decided.set(codein, {step,
			    words: t(`${TOLD[what]}_before`, {gamme, codein})});
	}

	/* An answered row is still in sight until the list has come anew. */
	const isAnswered = ({codein}) => taken.has(codein) ||
	    (isDecided(codein) && proposal(codein) === undefined);

	/* The row itself, or in the list of what waits the next to be answered. */
	function rowFor(row) {
		let index = grid.indexNow(), next = row;

		while (inWaiting() && next !== undefined && isAnswered(next))
			next = grid.rowAt(++index);
		return next;
	}

	async function decideOne(what, row) {
		const {codein} = row, {code} = supplier();

		taken.add(codein);
		try {
			await inTurn(codein, () => decideRow(what, row, code));
		} finally {
			taken.delete(codein);
		}
	}

	/* The proposals that the buyer has seen, at rows without an edit. */
	async function decideRows(what, rows) {
		const {code} = supplier();
		const codeins = (await rows).map(({codein}) => codein);
		const waiting = () => codeins.filter((codein) =>
		    proposal(codein) !== undefined && !edit(codein));

		if (waiting().length === 0 && inWaiting())
			await refreshPending();
		if (code !== supplier().code)
			return;
		const planned = plan(waiting());

		if (planned.count === 0)
			tell(t("waits_not_chosen"), {about: "ranges"});
		else if (planned.count > MANY)
			decide(what, planned, of());
		else
			await decideNow(what, planned, of(),
			    plural(`${TOLD[what]}_many`, planned.count));
	}

	return (what, row) => {
		const rows = chosen(row), next = rows ? null : rowFor(row);

		if (next === undefined) {
			tell(t("waits_no_more"), {about: "ranges"});
			return;
		}
		(rows ? inTurn(null, () => decideRows(what, rows)) :
		    decideOne(what, next)).catch((error) =>
			complain(t("pending_failed"), error));
	};
}
