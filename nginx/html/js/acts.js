/*
 * acts: what keys do to rows: set a range, fill down, paste, copy, undo. The
 * rows are those chosen, else the cursor's.
 */
import {setAfterLook, titleOf} from "./bulk.js";
import {copySheet, sheetOf} from "./copying.js";
import {displayedNames} from "./columns.js";
import {undoOf} from "./decide.js";
import {answered} from "./deciding.js";
import {complain} from "./errors.js";
import * as format from "./format.js";
import {tell} from "./notice.js";
import {readRanges, rowsOfCodes} from "./pasted.js";
import {isVoid, lastStep, RANGES, redo, setRange, standing, undo} from "./ranges.js";
import {mayDecide, tellReadOnly} from "./rights.js";
import {makeSigns, SIGNS} from "./signs.js";
import {plural, t} from "./text.js";

const MANY = 100; /* rows that are set without a word before */
const MOST_COPIED = 20000;

/*
 * supplier() gives it; `wholeRows` promises rows of codes; inWaiting() says
 * whether the rows are those at which a proposal waits.
 */
export function makeActs(grid, supplier, wholeRows, inWaiting) {
	/* The newest step, or the one that a notice was about. */
	async function undoStep(step) {
		await answered();
		const had = await undo(step);

		tell(t(had === undefined ? isVoid() ? "undo_void" :
		    "nothing_to_undo" : had.decided ? "undone_decided" :
		    "undone"),
		{about: "ranges"});
	}

	async function redoStep() {
		const had = await redo();

		tell(t(had === undefined ? "nothing_to_redo" : "redone"),
		    {about: "ranges"});
	}

	const told = (text) => tell(text, {about: "ranges",
	    action: undoOf(lastStep(), {undoStep})});

	/* Own edits may be dropped also where the user may not save them. */
	function refused(gamme) {
		const refuses = gamme !== undefined &&
		    !mayDecide(supplier().code);

		if (refuses)
			tellReadOnly();
		return refuses;
	}

	/* Many rows are set after a look at what that does. */
	async function change(rows, gamme) {
		if (refused(gamme))
			return;
		if (rows.length <= MANY) {
			const count = setRange(rows, gamme);

			if (count > 1 && gamme !== undefined)
				told(plural("set_many", count, {gamme}));
			return;
		}
		const count = await setAfterLook(
		    rows.map((row) => [row, gamme]), {title: titleOf(gamme),
			go: t(gamme === undefined ? "many_drop_go" : "many_go")});

		if (count > 0)
			told(gamme === undefined ? plural("dropped", count) :
			    plural("set_many", count, {gamme}));
	}

	async function setPairs(pairs, how) {
		const count = pairs.length <= MANY && !how.always ?
		    pairs.reduce((sum, [row, gamme]) =>
			sum + setRange([row], gamme), 0) :
		    await setAfterLook(pairs, {go: t("paste_go"),
			title: (n) => plural("paste_title", n), ...how});

		if (count > 0)
			told(plural("set_some", count));
		else if (count === 0)
			tell(t("set_none"), {about: "ranges"});
	}

	const isAnyChosen = () => grid.selectedRows().length > 0 ||
	    grid.block() !== null;

	/* The rows that are meant, the first one of a block first. */
	const targets = (row) => {
		const selected = grid.selectedRows();

		return selected.length > 0 ? selected :
		    grid.block()?.rows ?? [row];
	};

	/* Rows of a block may have to be asked for. */
	async function setTargets(row, gamme) {
		const meant = targets(row);

		try {
			await change(meant instanceof Promise ? await meant :
			    meant, gamme);
		} catch (error) {
			complain(t("choose_failed"), error);
		}
	}

	/*
	 * As a spreadsheet does: a block takes the range of its first row, rows
	 * that are chosen that of the cursor's, the cursor's row the one above.
	 */
	async function fillDown(row) {
		const meant = await targets(row);
		const from = grid.selectedRows().length > 0 ? row :
		    grid.block() !== null ? meant[0] : grid.rowAbove();
		const gamme = from === undefined ? null : standing(from);

		if (gamme !== null)
			await change(meant, gamme);
	}

	/* From the cursor down; one letter is for all that is chosen. */
	async function pasteLetters({letters, wrong}, row) {
		if (letters.length === 1) {
			await setTargets(row, letters[0]);
			return;
		}
		const rows = await grid.rowsFrom(letters.length);

		await setPairs(rows.map((one, i) => [one, letters[i]])
		    .filter(([, gamme]) => gamme !== null),
		{wrong, always: letters.length > 1});
	}

	async function pasteCodes({pairs, wrong}) {
		const {found, ...told} = await rowsOfCodes(pairs, supplier().code);

		await setPairs(found, {...told, wrong, always: true});
	}

	async function paste(text, row) {
		const read = readRanges(text);

		if (refused(null))
			return;
		try {
			if (read.letters?.length === 0)
				tell(t("paste_none"), {about: "ranges"});
			else if (read.letters)
				await pasteLetters(read, row);
			else
				await pasteCodes(read);
		} catch (error) {
			complain(t("paste_failed"), error);
		}
	}

	async function copyRows(selected) {
		if (selected.length > MOST_COPIED) {
			tell(t("copy_many", {n: format.integer(selected.length),
			    most: format.integer(MOST_COPIED)}),
			{about: "copy"});
			return;
		}
		const rows = await wholeRows(selected);

		await copySheet(sheetOf(rows, displayedNames(), true));
		tell(plural("copied_rows", rows.length), {about: "copy"});
	}

	async function copyBlock({rows, names: columns}) {
		const whole = await rows;

		await copySheet(sheetOf(whole, columns));
		if (whole.length * columns.length > 1)
			tell(plural("copied_cells", whole.length *
			    columns.length), {about: "copy"});
	}

	function copy(row, name) {
		const selected = grid.selectedRows(), block = grid.block();
		const act = block !== null ? copyBlock(block) :
		    selected.length > 0 ? copyRows(selected) :
			displayedNames().includes(name) ?
			    copyBlock({rows: [row], names: [name]}) : null;

		act?.catch((error) => complain(t("copy_failed"), error));
		return act !== null;
	}

	const sign = makeSigns(grid, {supplier, inWaiting, undoStep,
	    chosen: (row) => isAnyChosen() ? targets(row) : null});

	const commands = {
		C: (row, name) => copy(row, name),
		D: (row) => {
			fillDown(row).catch((error) =>
			    complain(t("choose_failed"), error));
			return true;
		},
	};

	return {
		undoStep, redoStep,
		/* Ctrl+V in a cell of the grid that `host` holds. */
		listenPaste: (host) => document.addEventListener("paste",
		    (event) => {
			const at = document.activeElement?.closest(".ag-row");
			const text = event.clipboardData?.getData("text/plain");

			if (!at || !host.contains(at) || !text)
				return;
			event.preventDefault();
			const row = grid.rowAt(
			    Number(at.getAttribute("row-index")));

			if (row === undefined)
				tell(t("row_waits"), {about: "ranges"});
			else
				paste(text, row);
		    }),
		/* The rows that are chosen, by a button. */
		setChosen: (gamme) => change(grid.selectedRows(), gamme),
		/* A key in a cell; true when it was taken. */
		pressed(event, row, name) {
			const letter = event.key.toUpperCase();

			if (event.altKey)
				return false;
			if (event.ctrlKey || event.metaKey)
				return commands[letter]?.(row, name) ?? false;
			if (SIGNS[event.key] !== undefined) {
				if (!refused(null))
					sign(SIGNS[event.key], row);
			} else if (RANGES.includes(letter))
				setTargets(row, letter);
			else if (["Delete", "Backspace"].includes(event.key))
				setTargets(row, undefined);
			else
				return false;
			return true;
		},
	};
}
