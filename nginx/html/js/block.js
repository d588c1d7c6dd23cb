/*
 * block: several cells, as in a spreadsheet: Shift and arrows, or the mouse
 * drawn over them, from the cursor's cell on; and where Home and End lead.
 */
const EDGE = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
    ArrowRight: [0, 1]};
const ENDS = {Home: -Infinity, End: Infinity};

/* The way of a key in [rows, columns]; undefined for another key. */
function stride({key, ctrlKey, metaKey}) {
	const far = ctrlKey || metaKey;

	return key in ENDS ? [far ? ENDS[key] : 0, ENDS[key]] :
	    EDGE[key]?.map((by) => by && by * (far ? Infinity : 1));
}

/* `host` holds the grid, api() gives its interface; changed() hears of it. */
export function cellBlock(host, {api, changed}) {
	let from = null, to = null; /* {row, name}; both null: none */
	let drawn = false; /* by a mouse that is down */

	const names = () => api().getAllDisplayedColumns()
	    .map((column) => column.getColId())
	    .filter((name) => !name.startsWith("ag-"));
	const placed = (at) => ({row: at.rowIndex,
	    name: at.column.getColId()});

	/* The corners: {top, bottom, names}; null while there is no block. */
	function area() {
		if (from === null)
			return null;
		const all = names();
		const [left, right] = [from.name, to.name]
		    .map((name) => all.indexOf(name)).sort((a, b) => a - b);

		if (left < 0)
			return null;
		return {top: Math.min(from.row, to.row),
		    bottom: Math.max(from.row, to.row),
		    names: all.slice(left, right + 1)};
	}

	function draw() {
		const at = area();

		for (const row of host.querySelectorAll(".ag-row[row-index]")) {
			const index = Number(row.getAttribute("row-index"));
			const within = at !== null && index >= at.top &&
			    index <= at.bottom;

			for (const cell of row.querySelectorAll(".ag-cell"))
				cell.classList.toggle("in-block", within &&
				    at.names.includes(cell.getAttribute("col-id")));
		}
		changed();
	}

	function clear() {
		if (from === null)
			return;
		from = to = null;
		draw();
	}

	function extend(where) {
		const cursor = api().getFocusedCell();

		if (cursor == null && from === null)
			return;
		from ??= placed(cursor);
		to = where;
		go(to);
		if (from.row === to.row && from.name === to.name)
			from = to = null;
		draw();
	}

	const clamp = (n, most) => Math.max(0, Math.min(n, most));

	function go({row, name}) {
		api().ensureIndexVisible(row);
		api().ensureColumnVisible(name);
		api().setFocusedCell(row, name);
	}

	/* Arrows without Shift are the grid's own. */
	function key(event) {
		const step = stride(event);
		const cursor = api().getFocusedCell();
		const longer = event.shiftKey;

		if (step === undefined || !(longer || event.key in ENDS) ||
		    event.altKey || cursor == null || cursor.rowPinned ||
		    !event.target.closest?.(".ag-cell"))
			return;
		const all = names();
		const {row, name} = longer && to ? to : placed(cursor);
		const at = all.indexOf(name);

		if (at < 0 && longer)
			return;
		const where = {row: clamp(row + step[0],
		    api().getDisplayedRowCount() - 1),
		name: all[clamp(Math.max(at, 0) + step[1], all.length - 1)]};

		event.preventDefault();
		event.stopPropagation();
		/* The first column is in sight always where it is pinned. */
		if (event.key === "Home")
			api().ensureColumnVisible(
			    api().getDisplayedCenterColumns()[0] ?? where.name);
		if (longer)
			extend(where);
		else
			go(where);
	}

	function cellOf(event) {
		const cell = event.target.closest?.(".ag-cell");
		const row = cell?.closest(".ag-row")?.getAttribute("row-index");
		const name = cell?.getAttribute("col-id");

		return !/^\d+$/.test(row) || !names().includes(name) ? null :
		    {row: Number(row), name};
	}

	host.addEventListener("keydown", key, true);
	host.addEventListener("pointerdown", (event) => {
		const cell = event.button === 0 && event.pointerType === "mouse" ?
		    cellOf(event) : null;

		drawn = cell !== null && !event.target.closest("button, input");
		if (drawn && event.shiftKey) {
			event.preventDefault();
			event.stopPropagation();
			extend(cell);
		} else if (!event.shiftKey)
			clear();
	}, true);
	/* The grid would take the cursor there, and end the block. */
	host.addEventListener("mousedown", (event) => {
		if (event.shiftKey && drawn) {
			event.preventDefault();
			event.stopPropagation();
		}
	}, true);
	host.addEventListener("pointermove", (event) => {
		if (!drawn || event.buttons !== 1)
			return;
		const cell = cellOf(event), last = to ?? (() => {
			const at = api().getFocusedCell();

			return at == null ? null : placed(at);
		})();

		if (cell !== null && last !== null &&
		    (cell.row !== last.row || cell.name !== last.name))
			extend(cell);
	});
	addEventListener("pointerup", () => {
		drawn = false;
	});

	return {
		area, clear,
		/* The cursor moved: elsewhere it ends the block. */
		moved() {
			const at = api().getFocusedCell();

			if (to !== null && (at == null ||
			    at.rowIndex !== to.row ||
			    at.column.getColId() !== to.name))
				clear();
		},
		/* The class of a cell that is drawn later. */
		rules: {"in-block": ({rowIndex, column}) => {
			const at = area();

			return at !== null && rowIndex >= at.top &&
			    rowIndex <= at.bottom &&
			    at.names.includes(column.getColId());
		}},
	};
}
