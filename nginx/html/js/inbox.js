/*
 * inbox: at which suppliers proposals wait: how many, how old, and whose. From
 * there to the rows, one after the other, and on to the next supplier.
 */
import {awaitsLogin, get} from "./api.js";
import {emit, on} from "./bus.js";
import {openDialog} from "./dialog.js";
import {el, icon, lock} from "./dom.js";
import {complain, failure} from "./errors.js";
import * as format from "./format.js";
import {mayDecide} from "./rights.js";
import {supplierNames} from "./suppliers.js";
import {plural, t} from "./text.js";

const POLL_MS = 60000;
const DAY_MS = 24 * 3600 * 1000;

/* What waits, `mine` of it for this user, and how many that is in `total`. */
async function waiting() {
	const {data} = await get("/app/waiting");
	const mine = data.filter(({codeFournisseur: code}) => mayDecide(code));

	return {list: data, mine, total: mine.reduce((sum, {propositions}) =>
	    sum + propositions, 0)};
}

function age(at) {
	const days = Math.floor((Date.now() - new Date(at)) / DAY_MS);

	return days < 1 ? t("inbox_today") : plural("inbox_days", days);
}

/* `go(code)` shows what waits at a supplier; `supplier` is the one shown. */
export function inbox(go, supplier) {
	const tally = el("span.tally", {hidden: true});
	const button = el("button.quiet.inbox", {type: "button", title: t("inbox"),
	    "aria-label": t("inbox"), onclick: open}, icon("inbox"), tally);

	function show(total) {
		tally.hidden = total === 0;
		tally.textContent = format.integer(total);
		button.setAttribute("aria-label", total === 0 ? t("inbox") :
		    `${t("inbox")} : ${plural("count_pending", total)}`);
	}

	/* A count that cannot be had is no news. */
	const look = () => document.hidden || awaitsLogin() ? null : waiting()
	    .then(({total}) => show(total)).catch(() => null);

	function row({codeFournisseur: code, propositions, oldest, authors},
	    called, window) {
		return el("tr", {}, el("th", {scope: "row"},
		    el("button.link", {type: "button", onclick() {
			window.close();
			go(code);
		    }}, called.get(code) ?? code), " ",
		    el("span.code.faint", {}, code), " ",
		    mayDecide(code) ? null : lock(t("read_only"))),
		el("td.right", {}, format.integer(propositions)),
		el("td.nowrap", {title: format.time(oldest)}, age(oldest)),
		el("td.faint", {}, authors.join(", ")));
	}

	function open() {
		const body = el("tbody");
		const told = el("div.faint", {role: "status"});
		const heads = [["", "supplier"], [".right", "inbox_count"],
		    ["", "inbox_oldest"], ["", "inbox_authors"]];
		const table = el("table.plain.inbox-list", {hidden: true},
		    el("thead", {}, el("tr", {}, heads.map(([kind, text]) =>
			el(`th${kind}`, {scope: "col"}, t(text))))), body);
		const window = openDialog({title: t("inbox"), wide: true,
		    content: [el("p.faint", {}, t("inbox_lead")), table, told]});

		async function fill() {
			told.textContent = t("loading");
			try {
				const [{list, total}, called] = await Promise.all(
				    [waiting(), supplierNames()]);

				show(total);
				list.sort((a, b) => mayDecide(b.codeFournisseur) -
				    mayDecide(a.codeFournisseur) ||
				    (a.oldest < b.oldest ? -1 : 1));
				body.replaceChildren(...list.map((one) =>
				    row(one, called, window)));
				table.hidden = list.length === 0;
				told.textContent = list.length === 0 ?
				    t("inbox_none") : "";
				body.querySelector("button")?.focus();
			} catch (error) {
				told.replaceChildren(failure(t("inbox_failed"),
				    error, fill));
			}
		}

		fill();
	}

	/* The next supplier with proposals, by code, round and round. */
	async function next() {
		try {
			const {mine, total} = await waiting();
			const others = mine.map((one) => one.codeFournisseur)
			    .filter((code) => code !== supplier());

			show(total);
			if (others.length === 0)
				emit("waiting-none");
			else
				go(others.find((code) => code > supplier()) ??
				    others[0]);
		} catch (error) {
			complain(t("inbox_failed"), error);
		}
	}

	setInterval(look, POLL_MS);
	on("decided", look);
	on("rights", look);
	look();
	return {button, open, next};
}
