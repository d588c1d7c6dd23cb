/*
 * screen: the page where buyers work. It puts the views together and decides
 * which rows the grid shows; what each view looks like is in its own file.
 */
import {ApiError} from "./api.js";
import {makeActs} from "./acts.js";
import {anyFilter, codesOf, NO_FILTERS, rowsByCodes, sourceOf}
    from "./asked.js";
import {emit, on} from "./bus.js";
import {changesBar} from "./changes.js";
import {pickColumns} from "./columnpicker.js";
import {shownColumns} from "./columns.js";
import {filterable, inWords} from "./conditions.js";
import {isDialogOpen} from "./dialog.js";
import {debounce, el, icon, iconButton, typed} from "./dom.js";
import {complain, reasons} from "./errors.js";
import {pickFilter} from "./filterpicker.js";
import {filterBar} from "./filters.js";
import * as format from "./format.js";
import {gridLabel, makeGrid} from "./grid.js";
import {listenKeys, openHelp} from "./keyboard.js";
import {tell} from "./notice.js";
import {articlePanel} from "./panel.js";
import {keepPlace, onPlace, placeNow} from "./place.js";
import {printer} from "./print.js";
import {changed, edit, openRanges, proposal, refreshPending} from
    "./ranges.js";
import {openSettings} from "./settings.js";
import {sideView} from "./side.js";
import {rowsState} from "./state.js";
import {recall, remember} from "./store.js";
import {findSupplier, supplierPicker} from "./suppliers.js";
import {tally} from "./tally.js";
import {plural, t} from "./text.js";
import {turnTheme} from "./theme.js";

const POLL_MS = 15000;

/* Whether these filters are alike, `name` aside. */
const sameBut = (name, one, other) => Object.keys(NO_FILTERS).every((key) =>
    key === name || String(one[key]) === String(other[key]));

export function openScreen(host, session, logOut) {
	let supplier = null, source = null;
	let filters = {...NO_FILTERS};
	let total = null;
	let matching = null; /* promises the codes of all rows of the filters */
	let pending = new AbortController();
	let untell = null; /* what takes back that proposals cannot be had */
	let arriving = false; /* other rows, from the first one on */
	let going = false; /* to a place that the address names already */
	let goes = 0;

	/* --- the views ---------------------------------------------------- */

	const picker = supplierPicker();
	const search = el("input", {type: "search", "aria-label": t("search"),
	    placeholder: t("search_hint"), autocomplete: "off", maxlength: 120,
	    disabled: true});
	const side = sideView(() => ({supplier, filters}));
	const state = rowsState();
	const gridHost = el("div.grid.ag-theme-quartz", {id: "articles"});
	const panel = articlePanel(() => {
		work.classList.remove("with-panel");
		grid.focus();
		notePlace(false);
	}, (by) => grid.step(by));
	const filterLine = filterBar(() => pickColumns(columnsChanged), addFilter);
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
		pressed: (...key) => acts.pressed(...key),
		sorted() {
			total = null;
			if (supplier !== null)
				notePlace(true);
		},
	});
	const acts = makeActs(grid, () => supplier.code, (rows) =>
	    rowsByCodes(supplier.code, rows,
		shownColumns().map(({name}) => name)));
	const bar = changesBar(grid, acts, changedAndShown);
	const figures = tally(bar.totals,
	    () => ({supplier, filters, source, total}));
	const work = el("div.work", {}, side.element,
	    el("main.center", {}, filterLine.element,
		el("div.grid-box", {}, gridHost, state.element)),
	    panel.element);

	host.append(el("div.screen", {},
	    el("h1.unseen", {}, t("title")),
	    el("a.skip", {href: "#articles", onclick(event) {
		event.preventDefault();
		grid.focus();
	    }}, t("skip")),
	    el("header.top", {},
		el("img.brand-mark", {src: "icon.svg", alt: t("title"),
		    width: 26, height: 26}),
		side.button, picker.element,
		el("div.search-box", {}, icon("search"), search,
		    el("kbd", {"aria-hidden": "true"}, "/")),
		el("span.grow"),
		iconButton("moon", t("theme"), turnTheme),
		iconButton("help", t("help"), openHelp),
		el("button.quiet", {type: "button", title: t("settings"),
		    onclick: () => openSettings(session, logOut)},
		icon("user"), el("span.user-name", {}, session.user))),
	    work, bar.element));

	/* --- which rows ---------------------------------------------------- */

	/* The changed articles among the rows of the filters; null: all are. */
	async function changedAndShown() {
		const {show} = filters;
		const all = changed();

		if (supplier === null || !anyFilter(filters))
			return null;
		if (all.length === 0)
			return [];
		if (anyFilter({...filters, show: ""}))
			matching ??= codesOf(supplier.code, filters);
		const codes = await matching?.catch((error) => {
			matching = null;
			throw error;
		});

		return all.filter((codein) =>
		    (codes === undefined || codes.has(codein)) &&
		    (show !== "pending" || proposal(codein) !== undefined) &&
		    (show !== "mine" || edit(codein) !== undefined));
	}

	function newSource() {
		source?.close();
		source = sourceOf(supplier.code, filters,
		    shownColumns().map(({name}) => name));
		total = null;
		figures.reset();
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
		if (arriving && document.activeElement === document.body)
			grid.focus();
		arriving = false;
		total = count;
		if (count > 0)
			state.clear();
		else
			state.nothing(nothingText(), anyFilter(filters) &&
			    clearFilters);
		figures.draw();
		figures.sumUp();
	}

	function nothingText() {
		return anyFilter({...filters, show: ""}) || !filters.show ? t("nothing") :
		    t(`nothing_${filters.show}`);
	}

	async function rowsFailed(error, from) {
		if (from !== source || error.name === "AbortError")
			return;
		if (error.replaced) {
			tell(t("refreshed"));
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
		if (!going)
			keepPlace({supplier: supplier.code, ...filters,
			    sort: grid.sorting(), article: panel.codein()}, step);
	}

	function openArticle(codein) {
		work.classList.add("with-panel");
		side.close();
		panel.show(supplier.code, codein);
	}

	function chooseSupplier(chosen, wanted = NO_FILTERS) {
		const before = going;

		/* The place that Back comes to keeps its article. */
		going = true;
		panel.close();
		going = before;
		supplier = chosen;
		filters = {...wanted};
		search.value = filters.search;
		search.disabled = false;
		filterLine.show(filters);
		side.clear();
		picker.show(supplier);
		remember("supplier", supplier.code);
		document.title = `${supplier.nom ?? supplier.code} – ${t("title")}`;
		const drafts = openRanges(session.user, supplier.code);

		if (drafts > 0)
			tell(plural("drafts_back", drafts));
		bar.supplier(supplier);
		figures.forget();
		showRows();
		grid.label(gridLabel(supplier.nom ?? supplier.code));
		if (supplier.hasSnapshot)
			side.open();
		lookForProposals();
		notePlace(true);
	}

	function setFilters(some, step = true) {
		const old = filters;

		filters = {...filters, ...some};
		if (!sameBut("nomenclature", old, filters))
			side.count();
		if (some.where)
			filterLine.show(filters);
		showRows();
		notePlace(step);
	}

	/* The same, and the views are to show it. */
	function showFilters(wanted) {
		search.value = wanted.search;
		filterLine.show(wanted);
		setFilters(wanted);
		side.select(wanted.nomenclature);
	}

	const clearFilters = () => showFilters(NO_FILTERS);

	/* A word that is being typed is one step. */
	function setSearch(text) {
		setFilters({search: text}, text === "" || filters.search === "");
	}

	const differs = (wanted) => !sameBut(null, wanted, filters);

	function addFilter(name) {
		pickFilter(name, (conditions) => setFilters({where: [...new Set(
		    [...filters.where, ...conditions])]}));
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
	async function goTo({supplier: code, sort, article, ...wanted}) {
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
		return true;
	}

	function columnsChanged() {
		grid.columnsChanged();
		renewRows();
	}

	async function lookForProposals() {
		pending.abort();
		pending = new AbortController();
		try {
			if (await refreshPending(pending.signal))
				refreshRows();
			untell?.();
			untell = null;
		} catch (error) {
			if (error.name !== "AbortError")
				untell ??= complain(t("pending_failed"), error);
		}
	}

	function refreshRows() {
		if (filters.show === "")
			grid.refresh();
		else
			renewRows();
	}

	/* What a print of the page is of. */
	function shownNow() {
		const {search: words, gamme, nomenclature, show, where} =
		    filters;

		return {
			title: document.title,
			lines: [words && `« ${words} »`,
			    gamme && `${t("range")} ${gamme}`,
			    nomenclature && `${t("classification")} ${nomenclature}`,
			    show && t(`show_${show}`), ...where.map(inWords),
			    bar.figures()]
			    .filter((part) => part),
			article: panel.isOpen(),
			names: shownColumns().map(({name}) => name), total,
			loaded: grid.loaded,
			all: (most) => grid.all(most, total ?? most),
		};
	}

	const print = printer(shownNow);

	on("supplier", chooseSupplier);
	on("filter", setFilters);
	on("class", (code) => {
		side.close();
		setFilters({nomenclature: code});
	});
	gridHost.addEventListener("contextmenu", (event) => {
		const name = event.target.closest(".ag-header-cell")
		    ?.getAttribute("col-id");

		if (filterable().some((one) => one.name === name)) {
			event.preventDefault();
			addFilter(name);
		}
	});
	document.addEventListener("paste", (event) => {
		const at = document.activeElement?.closest(".ag-row");
		const text = event.clipboardData?.getData("text/plain");

		if (!at || !gridHost.contains(at) || !text)
			return;
		event.preventDefault();
		acts.paste(text, grid.rowAt(Number(at.getAttribute("row-index"))));
	});
	on("recorded", grid.recorded);
	on("ranges", () => grid.rangesChanged());
	on("unkept", () => tell(t("edits_unkept"), {error: true}));
	on("decided", () => {
		grid.clearSelection();
		matching = null;
		lookForProposals();
		refreshRows();
	});
	search.addEventListener("input", debounce(150, () =>
	    setSearch(typed(search))));
	search.addEventListener("keydown", (event) => {
		if (event.key === "Escape" && search.value !== "") {
			event.preventDefault();
			search.value = "";
			setSearch("");
		} else if (["ArrowDown", "Enter", "Escape"].includes(event.key)) {
			event.preventDefault();
			grid.focus();
		}
	});
	listenKeys({
		"/": () => search.focus(),
		F: () => picker.open(),
		L: () => supplier !== null && addFilter(null),
		"?": openHelp,
		"Ctrl+Z": () => acts.undoStep(),
		"Ctrl+Shift+Z": () => acts.redoStep(),
		"Ctrl+Y": () => acts.redoStep(),
		"Ctrl+S": () => bar.decideNow("save"),
		"Ctrl+P": () => supplier !== null && print().catch((error) =>
		    complain(t("print_failed"), error)),
		Escape: () => panel.isOpen() ? panel.close() : false,
	});

	function lookIfSeen() {
		if (supplier !== null && !document.hidden)
			lookForProposals();
	}
	setInterval(lookIfSeen, POLL_MS);
	addEventListener("focus", lookIfSeen);

	/* --- to begin with --------------------------------------------------- */

	async function begin() {
		const asked = placeNow();
		const last = {...NO_FILTERS, sort: "", article: "",
		    supplier: recall("supplier")};

		/* A link to a supplier that is gone shows no other instead. */
		if (await goTo(asked) ||
		    (asked.supplier === "" && await goTo(last)))
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
	}

	begin();
	window.productGrid = {grid: grid.api, chosen: grid.selectedRows};
}
