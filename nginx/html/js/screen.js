/*
 * screen: the page where buyers work. It puts the views together and decides
 * which rows the grid shows; what each view looks like is in its own file.
 */
import {ApiError} from "./api.js";
import {searchAcross} from "./across.js";
import {makeActs} from "./acts.js";
import {anyFilter, changedAmong, codesOf, filtersIn, NO_FILTERS,
    rowsByCodes, sameBut, sourceOf} from "./asked.js";
import {emit, on} from "./bus.js";
import {changesBar} from "./changes.js";
import {pickColumns} from "./columnpicker.js";
import {askedColumns, keepColumns, shownColumns} from "./columns.js";
import {isDialogOpen} from "./dialog.js";
import {debounce, el} from "./dom.js";
import {complain, reasons} from "./errors.js";
import {openExport} from "./exporting.js";
import {pickFilter} from "./filterpicker.js";
import {filterBar} from "./filters.js";
import {frame} from "./frame.js";
import {goneArticles, tellGoneSuppliers} from "./gone.js";
import {askRow} from "./gotorow.js";
import {gridLabel, makeGrid} from "./grid.js";
import {inbox} from "./inbox.js";
import {listenKeys, openHelp} from "./keyboard.js";
import {tellMerged} from "./mergenotice.js";
import {hush, tell} from "./notice.js";
import {articlePanel} from "./panel.js";
import {keepGridPlace, keepPlace, linkTo, onPlace, placeBefore, placeNow, queryOf}
    from "./place.js";
import {filtersInWords, printer} from "./print.js";
import {editCount, lookForEdits, openRanges, pendingCount} from "./ranges.js";
import {searchBox} from "./searchbox.js";
import {sideView} from "./side.js";
import {nothingText, rowsState} from "./state.js";
import {recall, remember} from "./store.js";
import {openSummary} from "./summary.js";
import {findSupplier, supplierPicker} from "./suppliers.js";
import {tally} from "./tally.js";
import {plural, t} from "./text.js";
import {totalsRow} from "./totals.js";
import {openViews, viewOfLink, firstView} from "./views.js";
import {watch} from "./watching.js";

export function openScreen(host, session, logOut) {
	let supplier = null, source = null;
	let filters = {...NO_FILTERS};
	let total = null;
	let matching = null; /* promises the codes of all rows of the filters */
	let arriving = false; /* other rows, from the first one on */
	let reloaded = placeBefore(); /* where the grid was before a reload */
	let going = false; /* to a place that the address names already */
	let goes = 0;

	/* --- the views ---------------------------------------------------- */

	const picker = supplierPicker();
	const across = (words) => searchAcross(words, (code, article) =>
	    goOn({supplier: code, article}));
	const search = searchBox(setSearch, () => grid.focus(), across,
	    (name, text) => addFilter(name, text));
	const side = sideView(() => ({supplier, filters}));
	const state = rowsState();
	const gridHost = el("div.grid.ag-theme-quartz", {id: "articles"});
	const panel = articlePanel(() => {
		work.classList.remove("with-panel");
		grid.focus();
		notePlace(false);
	}, (by) => grid.step(by), across);
	const filterLine = filterBar({columns: () => pickColumns(columnsChanged),
	    filter: (name) => addFilter(name), rows: exportRows, summary: showSummary, views: showViews});
	const grid = makeGrid(gridHost, {
		failed: rowsFailed,
		opened({codein}) {
			openArticle(codein);
			notePlace(true);
		},
		moved: debounce(90, ({codein}) => {
			if (panel.isOpen()) {
				panel.show(supplier.code, codein);
				notePlace(false);
			}
		}),
		selected: () => emit("selection"),
		unchosen: (error) => error.name === "AbortError" ||
		    complain(t("choose_failed"), error, {about: "choice"}),
		waits: () => tell(t("row_waits"), {about: "ranges"}),
		pressed: (...key) => acts.pressed(...key),
		filtered: (name) => addFilter(name),
		sorted() {
			total = null;
			if (supplier !== null)
				notePlace(true);
		},
	});
	const acts = makeActs(grid, () => supplier, (rows) =>
	    rowsByCodes(supplier.code, rows, askedColumns()),
	() => filters.show === "pending");
	const bar = changesBar(grid, acts, changedAndShown);
	const rowsNow = () => ({supplier, filters, source, total});
	const figures = tally(bar.totals, rowsNow);
	const totals = totalsRow(grid.total, rowsNow);
	const waiting = inbox(goToWaiting, () => supplier?.code ?? "");
	const work = el("div.work", {}, side.element,
	    el("main.center", {}, filterLine.element,
		el("div.grid-box", {}, gridHost, state.element)),
	    panel.element);

	frame(host, {work, foot: bar.element, skip: () => grid.focus(),
	    top: [side.button, picker.element, search.element,
		el("span.grow"), waiting.button]}, session, logOut);

	/* Notices stand above the bar, however many lines it has. */
	new ResizeObserver(() => document.documentElement.style.setProperty(
	    "--foot", `${bar.element.offsetHeight}px`)).observe(bar.element);

	/* --- which rows ---------------------------------------------------- */

	/* A Set of the changed articles that the filters leave; null: all. */
	async function changedAndShown() {
		if (supplier === null || !anyFilter(filters))
			return null;
		if (editCount() + pendingCount() === 0)
			return new Set();
		if (anyFilter({...filters, show: ""}))
			matching ??= codesOf(supplier.code, filters);
		const codes = await matching?.catch((error) => {
			matching = null;
			throw error;
		});

		return changedAmong(codes, filters);
	}

	function newSource() {
		source?.close();
		source = sourceOf(supplier.code, filters, askedColumns());
		total = null;
		figures.reset();
		totals.reset();
		return [source, loaded.bind(null, source)];
	}

	function showRows() {
		if (supplier === null)
			return;
		const rows = newSource();

		state.loading(!supplier.hasSnapshot);
		bar.outdated();
		matching = null;
		bar.look();
		arriving = true;
		grid.show(...rows);
	}

	/* The same rows anew, where one is. */
	function renewRows() {
		if (supplier !== null)
			grid.replace(...newSource());
	}

	function loaded(from, count, meta) {
		if (from !== source)
			return;
		figures.dated(meta);
		if (!supplier.hasSnapshot) {
			supplier.hasSnapshot = true;
			side.open();
		}
		if (count === total)
			return;
		/* Not for rows that stay in place: the cursor may be far away. */
		if (arriving && reloaded?.hash === location.hash &&
		    count > reloaded.top)
			grid.comeBack(reloaded);
		reloaded = null;
		if (arriving && document.activeElement === document.body)
			grid.focus();
		arriving = false;
		total = count;
		if (count > 0)
			state.clear();
		else
			state.nothing(nothingText(filters), anyFilter(filters) &&
			    clearFilters);
		figures.draw();
		figures.sumUp();
		totals.sumUp();
	}

	async function rowsFailed(error, from) {
		if (from !== source || error.name === "AbortError")
			return;
		if (error.replaced) {
			tell(t("refreshed"));
			lookForGone();
			renewRows();
			side.open();
			return;
		}
		if (error instanceof ApiError && error.status === 202) {
			await state.busy(error.retryAfter || 3);
			if (from === source)
				showRows();
			return;
		}
		if (total === null)
			bar.totals();
		if (total !== null)
			complain(t("rows_failed"), error, {about: "rows",
			    action: {label: t("retry"), run: grid.refresh}});
		else if (error.status === 404)
			state.failed(t("supplier_unknown"), null,
			    {label: t("supplier_choose"), run: picker.open});
		else
			state.failed(supplier.hasSnapshot ?
			    t("rows_failed") : t("computing_failed"),
			reasons("", error), {label: t("retry"), run: showRows});
	}

	/* --- what the user does --------------------------------------------- */

	function notePlace(step) {
		if (!going && supplier !== null)
			keepPlace({supplier: supplier.code, ...filters,
			    sort: grid.sorting(), article: panel.codein()}, step);
	}

	function openArticle(codein) {
		work.classList.add("with-panel");
		side.close();
		panel.show(supplier.code, codein);
	}

	function tellFilters(now) {
		filterLine.show(now);
		grid.filteredBy(now.where);
	}

	function chooseSupplier(chosen, wanted = NO_FILTERS) {
		const before = going;

		/* The place that Back comes to keeps its article. */
		going = true;
		panel.close();
		going = before;
		supplier = chosen;
		hush("ranges");
		filters = {...wanted};
		search.show(filters.search);
		tellFilters(filters);
		side.clear();
		picker.show(supplier);
		remember("supplier", supplier.code);
		document.title = `${supplier.nom ?? supplier.code} – ${t("title")}`;
		const drafts = openRanges(session.user, supplier.code);

		lookForEdits();
		lookForGone();
		if (drafts > 0)
			tell(plural("drafts_back", drafts), {about: "ranges"});
		bar.supplier(supplier);
		figures.forget();
		showRows();
		grid.label(gridLabel(supplier.nom ?? supplier.code));
		if (supplier.hasSnapshot)
			side.open();
		watching.look();
		notePlace(true);
	}

	function setFilters(some, step = true) {
		const old = filters;

		filters = {...filters, ...some};
		if (!sameBut("nomenclature", old, filters))
			side.count();
		if (some.where)
			tellFilters(filters);
		showRows();
		notePlace(step);
	}

	/* The same, and the views are to show it. */
	function showFilters(wanted) {
		search.show(wanted.search);
		tellFilters(wanted);
		setFilters(wanted);
		side.select(wanted.nomenclature);
	}

	const clearFilters = () => showFilters(NO_FILTERS);

	/* A word that is being typed is one step. */
	function setSearch(text) {
		setFilters({search: text}, text === "" || filters.search === "");
	}

	const differs = (wanted) => !sameBut(null, wanted, filters);

	/* `text` is a list of values that was pasted, if any. */
	function addFilter(name, text = "") {
		if (supplier === null)
			return;
		pickFilter(name, text, {supplier, filters}, (conditions, replaced) =>
		    setFilters({where: [...new Set([...filters.where.filter(
			(one) => !replaced.includes(one)), ...conditions])]}));
	}

	/* The rows stay; the address says again what they are. */
	function tellUnknown(code) {
		tell(t("supplier_not_there", {code}), {error: true,
		    about: "supplier"});
		notePlace(false);
	}

	/*
	 * A place that the address named. False when there is no such supplier,
	 * or when suppliers could not be asked for, which has been told.
	 */
	async function goTo({supplier: code, sort, article, view, ...wanted}) {
		const mine = ++goes;
		const found = code === supplier?.code ? supplier :
		    await findSupplier(code);

		if (mine !== goes)
			return true;
		if (found == null) {
			if (found === null && code !== "" && supplier !== null)
				tellUnknown(code);
			return false;
		}
		going = true;
		grid.sortBy(sort);
		if (found !== supplier)
			chooseSupplier(found, wanted);
		else if (differs(wanted))
			showFilters(wanted);
		if (article !== "")
			openArticle(article);
		else
			panel.close();
		going = false;
		if (view)
			await goToView(() => viewOfLink(view), mine);
		return true;
	}

	/* To another place, by the buyer: Back comes back from it. */
	async function goOn(place) {
		if (await goTo({...NO_FILTERS, sort: "", ...place}))
			notePlace(true);
	}

	/* Unless the buyer went elsewhere while it was asked for. */
	async function goToView(find, mine = goes) {
		const view = await find();

		if (mine === goes && view !== null)
			applyView(view);
		notePlace(false);
	}

	/* Columns that were added stand last: they are brought into sight. */
	function columnsChanged(added) {
		grid.columnsChanged();
		renewRows();
		if (added.length > 0)
			grid.showColumn(added.at(-1));
	}

	function refreshRows() {
		if (filters.show === "")
			grid.refresh();
		else
			renewRows();
	}

	/* What a print of the page is of; null while nothing is shown. */
	function shownNow() {
		return supplier && {
			title: `${supplier.nom ?? ""} ${supplier.code}`.trim(),
			lines: [...filtersInWords(filters), bar.figures()]
			    .filter((part) => part),
			article: panel.isOpen(),
			names: shownColumns().map(({name}) => name), total,
			loaded: grid.loaded, first: grid.first,
			firstNow: grid.firstNow,
		};
	}

	function applyView({columns, place}) {
		if (columns !== null) {
			keepColumns(columns);
			grid.columnsChanged();
		}
		grid.sortBy(place.sort);
		showFilters(filtersIn(place));
	}

	function showViews() {
		if (supplier !== null)
			openViews({apply: applyView,
			    link: (...view) => linkTo(supplier.code, ...view),
			    now: () => ({columns: shownColumns(),
				place: {...filters, sort: grid.sorting()}})});
	}

	/* What waits at a supplier. */
	function goToWaiting(code) {
		goOn({show: "pending", supplier: code, article: ""});
	}

	/* The next row at which a proposal waits, or the one before. */
	function nextWaiting(by) {
		if (supplier === null)
			waiting.open();
		else if (filters.show !== "pending")
			showFilters({...filters, show: "pending"});
		else if (pendingCount() === 0 || !grid.step(by))
			waiting.next();
	}

	function exportRows() {
		if (supplier !== null && total > 0)
			openExport({supplier, filters, order: grid.order(),
			    total});
	}

	function showSummary() {
		if (supplier !== null)
			openSummary({supplier, filters}, showFilters);
	}

	const print = printer(shownNow);
	const lookForGone = goneArticles(() => supplier?.code ?? null);
	const watching = watch(() => supplier !== null, refreshRows,
	    lookForGone);

	on("supplier", chooseSupplier);
	on("filter", setFilters);
	on("class", (code) => {
		side.close();
		setFilters({nomenclature: code});
	});
	acts.listenPaste(gridHost);
	on("recorded", grid.recorded);
	on("period", () => {
		grid.columnsChanged();
		tellFilters(filters);
	});
	on("density", grid.densityChanged);
	on("ranges", () => grid.rangesChanged());
	on("merged", (merged) => {
		tellMerged(merged);
		lookForGone();
	});
	on("waiting-none", () => tell(t("inbox_none"), {about: "inbox"}));
	on("unkept", () => tell(t("edits_unkept"), {error: true}));
	on("decided", () => {
		grid.clearSelection();
		matching = null;
		watching.look();
		refreshRows();
		side.count();
	});
	listenKeys({
		"/": () => search.focus(),
		"Ctrl+F": () => search.find(),
		F: () => picker.open(),
		L: () => addFilter(grid.columnNow()),
		E: exportRows,
		G: showSummary,
		V: showViews,
		N: () => nextWaiting(1),
		P: () => nextWaiting(-1),
		I: waiting.open,
		"?": openHelp,
		"Ctrl+Z": () => acts.undoStep(),
		"Ctrl+Shift+Z": () => acts.redoStep(),
		"Ctrl+Y": () => acts.redoStep(),
		"Ctrl+G": () => total > 0 && askRow(total, grid.goToRow),
		"Ctrl+S": () => bar.decideNow("save"),
		"Ctrl+P": () => supplier !== null && print().catch((error) =>
		    complain(t("print_failed"), error)),
		Escape: () => panel.isOpen() ? panel.close() : false,
	});

	/* --- to begin with --------------------------------------------------- */

	async function begin() {
		const asked = placeNow();
		const last = {...NO_FILTERS, sort: "", article: "",
		    supplier: recall("supplier")};

		/* The line of the filters has its height before the rows come. */
		filterLine.show(asked);
		/* A link to a supplier that is gone shows no other instead. */
		const there = await goTo(asked) ||
		    (asked.supplier === "" && await goTo(last));

		if (!there)
			filterLine.show(NO_FILTERS);
		if (there)
			notePlace(false);
		else if (asked.supplier !== "")
			state.failed(t("supplier_not_there",
			    {code: asked.supplier}), t("supplier_link"),
			{label: t("supplier_choose"), run: picker.open});
		else {
			state.nothing(t("welcome"));
			picker.open();
		}
		bar.update();
		/* Below an open window nothing moves: it was asked about this. */
		onPlace((place) => isDialogOpen() ? notePlace(true) :
		    goTo(place));
		if (there && queryOf(asked) === "")
			await goToView(() => firstView().catch((error) =>
			    complain(t("views_failed"), error) && null));
	}

	keepGridPlace(grid.place);
	begin();
	tellGoneSuppliers(session.user).catch(() => null);
	window.productGrid = {grid: grid.api, chosen: grid.selectedRows};
}
