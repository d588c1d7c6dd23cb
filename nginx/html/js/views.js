/*
 * views: columns, their order and widths, filters and order of rows under a
 * name, kept on the server: one's own, or shared by all. One may be what the
 * page begins with.
 */
import {ask, get, remove} from "./api.js";
import {openDialog} from "./dialog.js";
import {copyText, el, iconButton} from "./dom.js";
import {complain, reasons} from "./errors.js";
import * as format from "./format.js";
import {tell} from "./notice.js";
import {placeOf, queryOf} from "./place.js";
import {mayShare} from "./rights.js";
import {t} from "./text.js";

const PREFIX = "view.";
const LONGEST = 100;

const path = (name, shared) => `/app/kept/${shared ? "shared" : "mine"}/${
    encodeURIComponent(PREFIX + name)}`;

/* {columns, place} of a view; null when there is none of this name. */
export async function findView({name, shared}) {
	try {
		const {data} = await get(path(name, shared));
		const {columns, query} = JSON.parse(data.value);

		return {columns: Array.isArray(columns) ? columns : null,
		    place: placeOf(String(query))};
	} catch (error) {
		if (error.status === 404)
			return null;
		throw error;
	}
}

/* The view that the page begins with, null for none. */
export async function firstView() {
	const {data} = await get("/app/kept");
	const name = data.find((one) => !one.shared && one.name === "first");

	if (name === undefined)
		return null;
	const first = JSON.parse((await get("/app/kept/mine/first")).data.value);

	return findView({name: String(first.name), shared: first.shared === true});
}

async function list() {
	const {data} = await get("/app/kept");
	const has = data.some((one) => !one.shared && one.name === "first");
	const first = has ? JSON.parse((await get("/app/kept/mine/first"))
	    .data.value) : null;

	return data.filter(({name}) => name.startsWith(PREFIX))
	    .map((one) => ({...one, name: one.name.slice(PREFIX.length)}))
	    .map((one) => ({...one, first: first?.name === one.name &&
		first.shared === one.shared}));
}

/*
 * `now()` gives {columns, place}: what is shown; `apply(view)` shows another;
 * link(name, shared) is the address of a view.
 */
export function openViews({now, apply, link}) {
	const rows = el("tbody");
	const problem = el("p.problem", {role: "alert"});
	const name = el("input", {id: "view-name", maxlength: LONGEST,
	    autocomplete: "off"});
	const shared = el("input", {type: "checkbox"});

	async function attempt(run) {
		problem.replaceChildren();
		try {
			await run();
		} catch (error) {
			problem.replaceChildren(...reasons(t("views_failed"),
			    error));
		}
	}

	const show = (one) => attempt(async () => {
		const view = await findView(one);

		if (view === null)
			return draw();
		window.close();
		apply(view);
	});

	const begin = (one) => attempt(async () => {
		if (one.first)
			await remove("/app/kept/mine/first");
		else
			await ask("PUT", "/app/kept/mine/first", {body: {value:
			    JSON.stringify({name: one.name,
				shared: one.shared})}});
		await draw();
	});

	const copyLink = async (one) => {
		await copyText(link(one.name, one.shared));
		tell(t("view_linked"), {about: "views"});
	};

	const drop = (one) => attempt(async () => {
		await remove(path(one.name, one.shared));
		await draw();
	});

	function row(one) {
		const first = iconButton("star", t("view_first",
		    {name: one.name}), () => begin(one));

		first.setAttribute("aria-pressed", String(one.first));
		return el("tr", {}, el("th", {scope: "row"},
		    el("button.link", {type: "button",
			onclick: () => show(one)}, one.name)),
		el("td.faint", {}, one.shared ? t("view_shared_by",
		    {author: one.author, date: format.day(one.at)}) :
			t("view_mine")),
		el("td.right.nowrap", {}, first,
		    iconButton("link", t("view_link", {name: one.name}),
			() => copyLink(one)),
		    one.shared && !mayShare() ? null :
			iconButton("close", t("view_drop", {name: one.name}),
			    () => drop(one))));
	}

	async function draw() {
		const all = await list();

		rows.replaceChildren(...all.length > 0 ? all.map(row) :
		    [el("tr", {}, el("td.faint", {colspan: 3},
			t("views_none")))]);
	}

	function keep(event) {
		const wanted = name.value.trim();

		event.preventDefault();
		if (wanted === "") {
			problem.textContent = t("view_name_needed");
			name.focus();
			return;
		}
		attempt(() => keepAs(wanted, shared.checked, 0));
	}

	/* A view of this name that is not `version` is not overwritten unasked. */
	async function keepAs(wanted, share, version) {
		const {columns, place} = now();

		try {
			await ask("PUT", path(wanted, share), {body: {version,
			    value: JSON.stringify({columns,
				query: queryOf(place)})}});
		} catch (error) {
			const taken = error.status === 409 &&
			    (await list()).find((one) => one.name === wanted &&
				one.shared === share);

			if (!taken)
				throw error;
			askToReplace(taken);
			return;
		}
		name.value = "";
		await draw();
	}

	function askToReplace({name: wanted, shared: share, author, at, version}) {
		const date = format.time(at);
		const replace = el("button.danger", {type: "button",
		    onclick: () => attempt(() => keepAs(wanted, share, version))},
		t("view_replace"));

		problem.replaceChildren(el("span", {}, t(share ?
		    "view_taken_shared" : "view_taken", {name: wanted, author,
			date})), el("span.row", {}, replace,
		    el("button", {type: "button", onclick() {
			problem.replaceChildren();
			name.select();
			name.focus();
		}}, t("view_rename"))));
		replace.focus();
	}

	const window = openDialog({title: t("views"), content: [
		el("p.faint", {}, t("views_lead")),
		el("table.plain.views", {}, rows),
		el("form.row", {onsubmit: keep, novalidate: true},
		    el("div.field", {}, el("label", {for: "view-name"},
			t("view_name")), name),
		    mayShare() ? el("label.row", {}, shared, t("view_share")) :
			null,
		    el("button.primary", {}, t("view_keep"))),
		mayShare() ? null : el("p.faint", {}, t("view_share_not")),
		problem].filter((part) => part)});

	attempt(draw);
	name.focus();
}

/* A view that a link names; false when it is not to be had, which is told. */
export async function viewOfLink(word) {
	const [, owner, name] = /^(mine|shared)\.(.+)$/s.exec(word);

	try {
		const view = await findView({name, shared: owner === "shared"});

		if (view === null)
			tell(t("view_not_there", {name}), {error: true,
			    about: "views"});
		return view;
	} catch (error) {
		complain(t("views_failed"), error, {about: "views"});
		return null;
	}
}
