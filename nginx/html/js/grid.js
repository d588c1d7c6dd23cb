/*
 * grid: the rows on screen (the door to AG Grid).
 *
 * Its infinite row model draws the rows in sight, asks for a page when one
 * comes into sight, and keeps a bounded number of pages.
 */
import {
	CellApiModule, CellStyleModule, ColumnApiModule, ColumnAutoSizeModule,
	createGrid,
	EventApiModule, InfiniteRowModelModule, LocaleModule, ModuleRegistry, PinnedRowModule,
	RenderApiModule, RowApiModule, RowStyleModule, ScrollApiModule,
} from "ag-grid-community";
import {cellBlock} from "./block.js";
import {cellOptions, isTotal} from "./cells.js";
import {column, isOwn, isPinned, keepColumns, shownColumns, withPin} from
    "./columns.js";
import {filterable, nameIn} from "./conditions.js";
import {rowHeight} from "./density.js";
import {sharedDrawing} from "./drawing.js";
import {edit, proposal} from "./ranges.js";
import {columnHeads} from "./heads.js";
import {hintBars} from "./hints.js";
import {PAGE} from "./rows.js";
import {tabOut} from "./tabbing.js";
import {tickColumn} from "./ticks.js";
import {french, t} from "./text.js";
import {widened} from "./widths.js";

const drawing = sharedDrawing(CellApiModule.version);

ModuleRegistry.registerModules([drawing.module, CellApiModule, CellStyleModule,
    ColumnApiModule, ColumnAutoSizeModule, EventApiModule, InfiniteRowModelModule, LocaleModule,
    PinnedRowModule, RenderApiModule, RowApiModule, RowStyleModule, ScrollApiModule]);

const PAGES_KEPT = 40;
const SCROLLBAR = 18;
const ACTS = /^([abcyz+ -]|Enter|F2|Delete|Backspace)$/i; /* keys on one row */
const MOST_SORTS = 4; /* columns that the API sorts by */
/* A phone shows these beside one another, the label always. */
const NARROW = {libelle1: innerWidth < 600 ? 136 : 220, codeGamme: 110,
    totalCa: 88};

const localeText = french ? {
	ariaSortableColumn: "Entrée pour trier",
	ariaColumn: "Colonne",
} : {};

const rowClassRules = {
	"row-waits": ({data}) => data === undefined,
	"row-total": ({data}) => data !== undefined && isTotal(data),
};

/* A column that the rows in sight have not got yet: no value is another thing. */
const waitRules = {
	"cell-waits": ({data, colDef}) => data !== undefined &&
	    !isTotal(data) && !(colDef.field in data) &&
	    !isOwn(colDef.field),
};

/* A change that waits is seen at the row's edge, too. */
const edgeRules = {
	"edge-api": ({data}) => data !== undefined &&
	    proposal(data.codein) !== undefined,
	"edge-mine": ({data}) => data !== undefined &&
	    edit(data.codein) !== undefined,
};

const canFilter = (name) => filterable().some((one) => one.name === name);

function definition(one, wide, rules) {
	const {name, width} = one;
	const of = column(name);

	return {
		field: name, colId: name, headerName: of.label,
		width: wide ? width ?? of.width : NARROW[name] ?? of.width,
		minWidth: 64, wrapHeaderText: true,
		sortable: of.sortable, ...cellOptions(of.kind),
		sortingOrder: of.left ? ["asc", "desc", null] :
		    ["desc", "asc", null],
		pinned: (wide ? isPinned(one) : name === "libelle1") ?
		    "left" : null,
		lockPinned: true,
		headerComponentParams: {filterable: canFilter(name)},
		cellClass: `kind-${of.kind}` + (of.left ? "" : " right"),
		headerClass: of.left ? "" : "right",
		cellClassRules: {...rules,
		    ...name === "codein" ? edgeRules : waitRules},
	};
}

/*
 * Makes the grid in `host`. `tell` has what the grid says:
 *	failed(error, source)   a page of this source could not be had
 *	opened(row)       Enter, F2, or two clicks
 *	moved(row)        the cursor is on another row
 *	selected()        other rows or cells are chosen
 *	unchosen(error)   rows to choose could not be had
 *	waits()           a row is wanted that has not come yet
 *	pressed(event, row, name)   another key in a column's cell; true
 *	                            when taken
 *	filtered(name)    a filter on the column is asked for
 *	sorted()
 */
export function makeGrid(host, tell) {
	const wide = matchMedia("(min-width: 900px)");
	/* A finger taps where a mouse clicks twice. */
	const {matches: byFinger} = matchMedia("(pointer: coarse)");
	const ticks = tickColumn(host, {api: () => api,
	    slice: (from, to) => rows.source.slice(from, to,
		orderOf(sorts())),
	    changed: tell.selected, failed: tell.unchosen});
	const heads = columnHeads(tell.filtered);
	const block = cellBlock(host, {api: () => api, changed: tell.selected});
	let filled = new Map(); /* widths that fill() chose */
	let rowNow = null;
	let due = null; /* the cursor's {row, name}, which comes later */
	let pressed = null; /* the article that a click was on */
	/* Who has the rows, {source, loaded}. */
	let rows = null;

	const keep = ({finished = true, source}) => {
		/* A phone's order and widths are not the desk's. */
		if (!finished || !wide.matches || source === "api" ||
		    source === "gridOptionsChanged")
			return;
		keepColumns(api.getColumnState()
		    .filter(({colId, hide}) => !hide && !colId.startsWith("ag-"))
		    .map(({colId, width, pinned}) => withPin({name: colId,
			width: width === filled.get(colId) ?
			    undefined : width}, pinned === "left")));
	};
	const api = createGrid(host, {
		theme: "legacy",
		rowModelType: "infinite",
		columnDefs: definitions(),
		defaultColDef: {headerComponentParams:
		    {innerHeaderComponent: heads.Head}},
		getRowId: ({data}) => data.codein ?? "total",
		cacheBlockSize: PAGE,
		maxBlocksInCache: PAGES_KEPT,
		maxConcurrentDatasourceRequests: 4,
		infiniteInitialRowCount: 24,
		cacheOverflowSize: 1,
		rowBuffer: 1,
		animateRows: false,
		suppressRowTransform: true,
		rowHeight: rowHeight(),
		headerHeight: 42,
		rowClassRules: {...rowClassRules, ...ticks.rowClassRules},
		/* A row that waits has no cells: another is made with its data. */
		processRowPostCreate({node, eRow}) {
			if (node.data === undefined)
				eRow.setAttribute("aria-busy", "true");
		},
		localeText,
		suppressCellFocus: false,
		suppressMovableColumns: false,
		suppressDragLeaveHidesColumns: true,
		suppressOverlays: ["loading", "noRows"],
		onGridSizeChanged: () => fill(),
		onColumnMoved: keep,
		onColumnResized: keep,
		onSortChanged() {
			const by = sorts();

			if (by.length > MOST_SORTS) {
				applySorts(by.slice(-MOST_SORTS));
				return;
			}
			block.clear();
			tell.sorted();
			toTop();
		},
		/* From behind, to the cursor: not to the last row of all. */
		focusGridInnerElement({fromBottom}) {
			if (fromBottom)
				focus();
			return fromBottom === true;
		},
		onCellClicked({event, data, column}) {
			if (event.detail === 1)
				pressed = data?.codein;
			if (data && (event.target.closest(".open") ||
			    (byFinger && column.getColId() === "libelle1")))
				tell.opened(data);
		},
		/* Two clicks here: not one on a window that it closed, too. */
		onCellDoubleClicked({data, colDef}) {
			if (data === undefined)
				tell.waits();
			else if (data.codein === pressed && colDef.field)
				tell.opened(data);
		},
		/* The row of sums is not one to work in. */
		navigateToNextCell: ({previousCellPosition: from,
		    nextCellPosition: to}) => to?.rowPinned ? from : to,
		onCellFocused({rowIndex, rowPinned}) {
			const data = rowIndex == null || rowPinned ? undefined :
			    api.getDisplayedRowAtIndex(rowIndex)?.data;

			block.moved();
			if (data && data.codein !== rowNow) {
				rowNow = data.codein;
				tell.moved(data);
			}
		},
	});

	/*
	 * By the host's own event: the grid's comes later, when the next key
	 * may have been pressed already.
	 */
	host.addEventListener("keydown", (event) => {
		const at = event.target.closest(".ag-cell");
		const index = at?.closest(".ag-row")?.getAttribute("row-index");
		const data = index == null ? undefined : rowAt(Number(index));

		if (data === undefined) {
			if (index != null && ACTS.test(event.key))
				tell.waits();
			return;
		}
		if (["Enter", "F2"].includes(event.key))
			tell.opened(data);
		else if (ticks.pressed(event, Number(index)) ||
		    tell.pressed(event, data, at.getAttribute("col-id")))
			event.preventDefault();
		else
			return;
		/* The wheel leaves the cursor behind: what is changed is shown. */
		if (!event.ctrlKey && !event.metaKey)
			api.ensureIndexVisible(Number(index));
	});

	host.addEventListener("contextmenu", (event) => {
		const name = event.target.closest(".ag-header-cell")
		    ?.getAttribute("col-id");

		if (canFilter(name)) {
			event.preventDefault();
			tell.filtered(name);
		}
	});
	tabOut(host, (at) => api.setFocusedHeader(
	    at?.getAttribute("col-id") ?? api.getAllDisplayedColumns()[0]));

	function definitions() {
		const shown = shownColumns();

		if (!wide.matches)
			shown.sort((a, b) => (b.name in NARROW) -
			    (a.name in NARROW));
		return [ticks.definition, ...shown.map((one) =>
		    definition(one, wide.matches, block.rules))];
	}

	/* What a wide screen leaves is the columns'. */
	function fill() {
		if (!wide.matches)
			return;
		filled = widened(shownColumns(), host.clientWidth - SCROLLBAR -
		    ticks.definition.width);
		api.setColumnWidths([...filled].map(([key, newWidth]) =>
		    ({key, newWidth})));
	}

	/* [{colId, sort}], the first key first. */
	const sorts = () => api.getColumnState().filter(({sort}) => sort)
	    .sort((a, b) => a.sortIndex - b.sortIndex)
	    .map(({colId, sort}) => ({colId, sort}));

	const applySorts = (by) => api.applyColumnState({
	    defaultState: {sort: null},
	    state: by.map((one, sortIndex) => ({...one, sortIndex}))});

	/* As the API takes it: "-" before what descends, else all ascend. */
	const orderOf = (by) => by.length === 0 ? {} :
	    {sort: inWords(by.slice(0, MOST_SORTS)), order: "asc"};

	const inWords = (by) => by.map(({colId, sort}) =>
	    (sort === "desc" ? "-" : "") + colId).join(",");

	async function getRows(params) {
		const {source, loaded} = rows;

		try {
			const {rows: page, total, meta} = await source.page(
			    params.startRow / PAGE + 1,
			    orderOf(params.sortModel));

			const give = () => params.successCallback(page, total);

			if (isCursorIn(params))
				give();
			else
				drawing.arrive(give);
			cursorWith(params);
			loaded(total, meta);
		} catch (error) {
			params.failCallback();
			tell.failed(error, source);
		}
	}

	/* The cursor's cell is needed at once: it has the focus. */
	function isCursorIn({startRow, endRow}) {
		const row = due?.row ?? api.getFocusedCell()?.rowIndex;

		return row >= startRow && row < endRow;
	}

	/* The page's own act: the buyer has not moved. */
	function putCursor(row, name) {
		rowNow = rowAt(row)?.codein;
		api.setFocusedCell(row, name);
	}

	/* The cursor once its row has come, unless the buyer is elsewhere. */
	function cursorWith({startRow, endRow}) {
		if (due === null || due.row < startRow || due.row >= endRow)
			return;
		if (document.activeElement === document.body)
			putCursor(due.row, due.name);
		due = null;
	}

	/* The cursor's cell, else the first. */
	function focus() {
		const [first] = api.getColumnState()
		    .filter(({colId}) => !colId.startsWith("ag-"));
		const at = api.getFocusedCell();

		if (at != null)
			api.setFocusedCell(at.rowIndex, at.column);
		else if (first !== undefined)
			putCursor(0, first.colId);
	}

	/*
	 * The first row, and the cursor on it when it is in use; who sorts by
	 * the keyboard stays at the column's head.
	 */
	function toTop() {
		const at = api.getFocusedCell();
		const active = document.activeElement;

		api.ensureIndexVisible(0, "top");
		if (at != null && host.contains(active) &&
		    !active.closest(".ag-header"))
			api.setFocusedCell(0, at.column);
		else if (at != null)
			api.clearFocusedCell();
	}

	/* The row of sums has no place: its index is no number. */
	const rowAt = (index) => Number.isInteger(index) ?
	    api.getDisplayedRowAtIndex(index)?.data : undefined;

	/* Rows that are loaded, else asked for; `whole` with all columns. */
	async function rowsOf(from, to, whole) {
		const list = [];

		for (let i = from; i < to; i++)
			list.push(rowAt(i));
		return list.every((row) => row !== undefined) ? list :
		    rows.source.slice(from, to, orderOf(sorts()), whole);
	}

	/* A row that waits has no cells until one is pressed: drawing.js. */
	host.addEventListener("mousedown", (event) => {
		const {target, clientX, clientY} = event;
		const row = target.closest(".row-waits");

		if (row === null || target.closest(".ag-cell") !== null)
			return;
		api.flushAllAnimationFrames();
		const name = document.elementFromPoint(clientX, clientY)
		    ?.closest(".ag-cell")?.getAttribute("col-id");

		if (name === undefined)
			return;
		event.preventDefault();
		api.setFocusedCell(Number(row.getAttribute("row-index")), name);
	}, true);
	hintBars(host, rowAt);
	wide.addEventListener("change", () =>
	    api.setGridOption("columnDefs", definitions()));

	return {
		/*
		 * Other rows, from the first one on. `source` has page();
		 * `loaded` hears of each page that came.
		 */
		show(source, loaded) {
			rowNow = due = null;
			rows = {source, loaded};
			ticks.clear();
			block.clear();
			api.setGridOption("datasource", {getRows});
			toTop();
		},
		/* The same rows from another source: they stay in place. */
		replace(source, loaded) {
			rows = {source, loaded};
			api.refreshInfiniteCache();
		},
		/* Asks anew for the pages it has, in place. */
		refresh: () => api.refreshInfiniteCache(),
		densityChanged: () =>
		    api.setGridOption("rowHeight", rowHeight()),
		columnsChanged() {
			api.setGridOption("columnDefs", definitions());
			fill();
		},
		showColumn: (name) => api.ensureColumnVisible(name),
		/* The row of sums below the others, null for none. */
		total: (row) => api.setGridOption("pinnedBottomRowData",
		    row === null ? [] : [row]),
		/* Map codein -> ranges, laid over the rows at hand. */
		recorded(now) {
			for (const [codein, ranges] of now)
				Object.assign(api.getRowNode(codein)?.data ?? {},
				    ranges);
			ticks.recorded(now);
		},
		rangesChanged: () => api.refreshCells(
		    {columns: api.getColumns().map((one) => one.getColId())
			.filter((name) => ["codein", "codeGamme"]
			    .includes(name) || isOwn(name)), force: true}),
		/* "name,-name", behind "-" the highest first; "" for none. */
		sorting: () => inWords(sorts()),
		order: () => orderOf(sorts()),
		sortBy: (order) => applySorts(order.split(",")
		    .filter((word) => word !== "").map((word) => ({
			colId: word.replace(/^-/, ""),
			sort: word.startsWith("-") ? "desc" : "asc"}))),
		selectedRows: ticks.rows,
		chosen: ticks.chosen, /* Map codein -> row, not to be changed */
		clearSelection() {
			ticks.clear();
			block.clear();
		},
		/* The block of cells: {rows, names}, rows promised; null: none. */
		block() {
			const area = block.area();

			return area && {names: area.names,
			    rows: rowsOf(area.top, area.bottom + 1, true)};
		},
		rowAt,
		indexNow: () => api.getFocusedCell()?.rowIndex ?? 0,
		/* The row above the cursor's, where it is loaded. */
		rowAbove: () => rowAt((api.getFocusedCell()?.rowIndex ?? 0) - 1),
		/* Promises `count` rows from the cursor's down. */
		rowsFrom(count) {
			const from = api.getFocusedCell()?.rowIndex ?? 0;

			return rowsOf(from, Math.min(from + count,
			    api.getDisplayedRowCount()), false);
		},
		focus,
		/*
		 * The row before or after the cursor's, brought into sight; false
		 * when there is none.
		 */
		step(by) {
			const at = api.getFocusedCell();
			const to = (at?.rowIndex ?? -1) + by;

			if (to < 0 || to >= api.getDisplayedRowCount())
				return false;
			api.ensureIndexVisible(to);
			api.setFocusedCell(to, at?.column ?? "codein");
			return true;
		},
		goToRow(row) {
			api.ensureIndexVisible(row, "middle");
			api.setFocusedCell(row, api.getFocusedCell()?.column ??
			    "libelle1");
		},
		/* Where the view and the cursor are: for comeBack(). */
		place() {
			const at = api.getFocusedCell();

			return {top: Math.round(api.getVerticalPixelRange().top /
			    rowHeight()), row: at?.rowIndex ?? null,
			name: at?.column.getColId() ?? null};
		},
		comeBack({top, row, name}) {
			api.ensureIndexVisible(top, "top");
			if (row === null || api.getColumn(name) === null ||
			    document.activeElement !== document.body)
				return;
			putCursor(row, name);
			due = rowAt(row) === undefined ? {row, name} : null;
		},
		/* The column of the cursor, or of the head in use; null: none. */
		columnNow() {
			const name = document.activeElement
			    ?.closest("[col-id]")?.getAttribute("col-id");

			return canFilter(name) ? name : null;
		},
		/* Heads tell which conditions are on their columns. */
		filteredBy: (where) => heads.filtered(new Set(where.map(nameIn))),
		/* The first rows, as far as they have come. */
		loaded(count) {
			const list = [];

			for (let row; list.length < count &&
			    (row = rowAt(list.length)) !== undefined;)
				list.push(row);
			return list;
		},
		/* Promises the first rows, with the columns shown. */
		first: (count) => rows.source.slice(0, count, orderOf(sorts()),
		    true),
		/* The same at once: see getNow() in api.js. */
		firstNow: (count) => rows.source.now(count, orderOf(sorts())),
		label: (text) => host.querySelector("[role=grid],[role=treegrid]")
		    ?.setAttribute("aria-label", text),
		api, /* for the tests' measurements */
	};
}

export const gridLabel = (name) => t("grid_label", {name});
