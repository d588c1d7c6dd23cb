/* settings: who is logged in, the language, the users, and the API keys. */
import {get, post, remove} from "./api.js";
import {openDialog, sure} from "./dialog.js";
import {copyText, el} from "./dom.js";
import {reasons} from "./errors.js";
import * as format from "./format.js";
import {languageChoice} from "./language.js";
import {openPassword} from "./password.js";
import {mayManage, rightsInWords} from "./rights.js";
import {plural, t} from "./text.js";
import {openUsers} from "./users.js";

/* The one time that a key is seen. */
function freshKey({name, key}) {
	const text = el("input.secret", {readonly: true, value: key,
	    "aria-label": t("key_itself"), onfocus: () => text.select()});
	const copy = el("button", {type: "button", async onclick() {
		await copyText(key);
		copy.textContent = t("key_copied");
	}}, t("key_copy"));

	return el("div.fresh", {role: "status"},
	    el("p", {}, t("key_new", {name})),
	    el("div.row", {}, text, copy));
}

/* What bounds a key: until when, how often, which suppliers. */
function keyBounds(key) {
	const bounds = [];

	if (key.expiresAt != null)
		bounds.push(t("key_until", {day: format.day(key.expiresAt)}));
	if (key.perMinute != null)
		bounds.push(plural("key_rate", key.perMinute));
	if (key.suppliers != null)
		bounds.push(t("key_suppliers",
		    {codes: key.suppliers.join(", ")}));
	return bounds.length == 0 ? "" :
	    el("div.faint", {}, bounds.join(" · "));
}

function keyRow(key, revoke) {
	const used = key.lastUsedAt == null ? t("key_never") :
	    format.time(key.lastUsedAt);

	return el("tr" + (key.revokedAt ? ".revoked" : ""), {},
	    el("th", {scope: "row"}, key.name, keyBounds(key)),
	    el("td", {}, t(`scope_${key.scope}`)),
	    el("td", {}, format.day(key.createdAt)),
	    el("td", {}, used),
	    el("td.right", {}, key.revokedAt ?
		el("span.faint", {}, t("key_revoked")) :
		el("button.danger.small", {type: "button",
		    onclick: () => revoke(key)}, t("key_revoke"))));
}

function keysPart() {
	const body = el("tbody");
	const problem = el("p.problem", {role: "alert"});
	const fresh = el("div");
	let inUse = new Set(); /* names */
	const name = el("input", {id: "key-name", maxlength: 100,
	    autocomplete: "off"});
	const scope = el("select", {id: "key-scope"},
	    ["read", "propose"].map((value) =>
		el("option", {value}, t(`scope_${value}`))));

	async function attempt(what, run) {
		problem.textContent = "";
		try {
			await run();
		} catch (error) {
			problem.replaceChildren(...reasons(t(what), error));
		}
	}

	async function list() {
		const {data} = await get("/app/keys");

		inUse = new Set(data.filter((key) => !key.revokedAt)
		    .map((key) => key.name));
		body.replaceChildren(...data.length > 0 ?
		    data.map((key) => keyRow(key, revoke)) :
		    [el("tr", {}, el("td.faint", {colspan: 5},
			t("key_none")))]);
	}

	const revoke = (key) => attempt("key_not_revoked", async () => {
		if (await sure(t("key_revoke_sure", key), t("key_revoke"))) {
			await remove(`/app/keys/${encodeURIComponent(key.id)}`);
			await list();
		}
	});
	const create = (event) => {
		event.preventDefault();
		const wanted = name.value.trim();
		const wrong = wanted === "" ? "key_name_needed" :
		    inUse.has(wanted) ? "key_name_taken" : null;

		if (wrong !== null) {
			problem.textContent = t(wrong);
			name.focus();
			return;
		}
		attempt("key_not_made", async () => {
			const {data} = await post("/app/keys", {
			    name: wanted, scope: scope.value});

			fresh.replaceChildren(freshKey(data));
			name.value = "";
			await list();
		});
	};

	attempt("keys_failed", list);
	return el("section", {}, el("h3", {}, t("keys")),
	    el("p.faint", {}, t("keys_lead")),
	    el("form.row", {onsubmit: create, novalidate: true},
		el("div.field", {}, el("label", {for: "key-name"},
		    t("key_name")), name),
		el("div.field", {}, el("label", {for: "key-scope"},
		    t("key_scope")), scope),
		el("button.primary", {}, t("key_create"))),
	    problem, fresh,
	    el("table.plain.keys", {}, el("thead", {}, el("tr", {},
		["key_name", "key_scope", "key_created", "key_used"].map(
		    (text) => el("th", {scope: "col"}, t(text))), el("td"))),
	    body));
}

export function openSettings(session, logOut) {
	openDialog({title: t("settings"), wide: true, content: [
		el("section.row", {},
		    el("p.grow", {}, t("you_are"), " ",
			el("b", {}, session.user), ", ", rightsInWords(), " ",
			el("span.faint", {}, t("session_until",
			    {date: format.time(session.expiresAt)}))),
		    el("button", {type: "button",
			hidden: session.outside === true,
			onclick: () => openPassword(session.user)},
		    t("password_change")),
		    el("button", {type: "button",
			onclick: () => logOut(session)},
			t("logout"))),
		mayManage() ? el("section.row", {},
		    el("p.faint.grow", {}, t("users_lead")),
		    el("button", {type: "button",
			onclick: () => openUsers(session)}, t("users"))) : null,
		languageChoice(),
		mayManage() ? keysPart() : el("section", {},
		    el("h3", {}, t("keys")),
		    el("p.faint", {}, t("keys_not"))),
	]});
}
