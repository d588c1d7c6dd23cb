/*
 * users: who works here, for administrators: a list, and windows to add a user,
 * to say what a user may do, to give another password, to remove one.
 */
import {ask, get, post, remove} from "./api.js";
import {openDialog, sure} from "./dialog.js";
import {el} from "./dom.js";
import {failure, reasons} from "./errors.js";
import * as format from "./format.js";
import {isShort} from "./password.js";
import {ROLES, rightsInWords} from "./rights.js";
import {supplierNames} from "./suppliers.js";
import {t} from "./text.js";

const placeOf = (name) => `/app/users/${encodeURIComponent(name)}`;

const codesIn = (text) => [...new Set(text.split(/[\s,;]+/)
    .filter((code) => code !== ""))];

function field(id, label, input) {
	input.id = id;
	return el("div.field", {}, el("label", {for: id}, label), input);
}

/* Shown as it is typed: the administrator tells it to the user. */
const passwordInput = () => el("input", {type: "text", autocomplete: "off",
    autocapitalize: "none", spellcheck: "false", maxlength: 1024});

/* --- windows ---------------------------------------------------------------- */

/*
 * A window with a form: `fields` are its elements, wrong() gives the input that
 * is wrong and why, else null, and send() does it. Resolves to true once done.
 */
function askFor({title, lead = "", fields, go, wrong, send, failed}) {
	const problem = el("p.problem", {role: "alert"});
	let sending = false; /* a disabled button would lose the focus */

	async function submit(event) {
		const found = wrong();

		event.preventDefault();
		if (sending)
			return;
		problem.replaceChildren();
		if (found !== null) {
			problem.textContent = t(found[1]);
			found[0].focus();
			return;
		}
		sending = true;
		try {
			await send();
			window.close(true);
		} catch (error) {
			problem.replaceChildren(...reasons(t(failed), error));
		} finally {
			sending = false;
		}
	}

	const window = openDialog({title, content: [
		lead === "" ? null : el("p.faint", {}, lead),
		el("form.user-form", {novalidate: true, onsubmit: submit},
		    fields, problem, el("button.primary", {}, go))].filter((part) => part)});

	window.dialog.querySelector("form input, form select").focus();
	return window.closed;
}

/* What a user may do: fields, and what they say. */
function rightsFields({role, suppliers}) {
	const choice = el("select", {onchange: show}, ROLES.map((value) =>
	    el("option", {value, selected: value === role},
		t(`role_${value}`))));
	const codes = el("input", {autocomplete: "off", spellcheck: "false",
	    oninput: name, value: (suppliers ?? []).join(", ")});
	const told = el("p.faint", {role: "status"});
	const some = el("div", {}, field("user-suppliers",
	    t("user_suppliers"), codes), told);
	let called = null; /* Map code -> name, once it is there */

	function show() {
		some.hidden = choice.value !== "buyer";
	}
	function name() {
		told.textContent = called === null ? "" : codesIn(codes.value)
		    .map((code) => called.has(code) ? called.get(code) :
			t("user_supplier_unknown", {code})).join(", ");
	}

	show();
	supplierNames().then((names) => {
		called = names;
		name();
	}, () => null); /* the codes alone will do */
	return {
		fields: [field("user-role", t("user_role"), choice), some],
		now() {
			const list = codesIn(codes.value);

			return {role: choice.value, suppliers: some.hidden ||
			    list.length === 0 ? null : list};
		},
	};
}

function addUser() {
	const name = el("input", {autocomplete: "off", autocapitalize: "none",
	    spellcheck: "false", maxlength: 64});
	const password = passwordInput();
	const rights = rightsFields({role: "buyer", suppliers: null});
	const added = () => name.value.trim();

	return askFor({title: t("user_add"), lead: t("user_add_lead"),
		go: t("user_add"), failed: "user_not_added",
		fields: [field("user-name", t("user_name"), name),
		    field("user-password", t("user_password"), password),
		    ...rights.fields],
		wrong: () => added() === "" ? [name, "user_name_needed"] :
		    isShort(password.value) ? [password, "password_short"] : null,
		send: () => post("/app/users", {name: added(),
		    password: password.value, ...rights.now()}),
	}).then((done) => done && added());
}

function changeRole(user) {
	const rights = rightsFields(user);

	return askFor({title: t("user_change_title", user),
		go: t("user_keep"), failed: "user_not_changed",
		fields: rights.fields, wrong: () => null,
		send: () => ask("PUT", placeOf(user.name),
		    {body: rights.now()})});
}

function resetPassword(user) {
	const password = passwordInput();

	return askFor({title: t("user_password_title", user),
		lead: t("user_password_lead"), go: t("password_change"),
		failed: "password_failed",
		fields: [field("user-password", t("user_password"), password)],
		wrong: () => isShort(password.value) ?
		    [password, "password_short"] : null,
		send: () => ask("PUT", `${placeOf(user.name)}/password`,
		    {body: {password: password.value}})});
}

/* --- the list --------------------------------------------------------------- */

/* `act(run)` does what changes a user, and reads the list again. */
function userRow(user, mine, act) {
	const button = (text, run, kind = "") => el(`button${kind}.small`, {
	    type: "button", onclick: () => act(user.name, run),
	    "aria-label": `${t(text)} : ${user.name}`}, t(text));
	const drop = async () => await sure(t("user_remove_sure", user),
	    t("user_remove"), t("user_remove_lead")) &&
	    await remove(placeOf(user.name)) && true;

	return el("tr", {}, el("th", {scope: "row"}, user.name, mine ?
	    el("span.faint", {}, ` (${t("user_you")})`) : null),
	el("td", {}, rightsInWords(user)),
	el("td", {}, user.lastSeenAt === null ? el("span.faint", {},
	    t("user_unseen")) : format.time(user.lastSeenAt)),
	/* One's own role is another administrator's to change. */
	el("td.right", {}, mine ? null : el("div.acts", {},
	    button("user_change", () => changeRole(user)),
	    button("user_password_new", () => resetPassword(user)),
	    button("user_remove", drop, ".danger"))));
}

/* `session` is the administrator's own. */
export function openUsers(session) {
	const body = el("tbody");
	const problem = el("p.problem", {role: "alert"});
	const told = el("div.faint", {role: "status"});
	const add = el("button.primary", {type: "button",
	    onclick: () => act(null, addUser)}, t("user_add"));
	const table = el("table.plain.users", {hidden: true}, el("thead", {},
	    el("tr", {}, ["user_name", "user_role", "user_seen"].map((text) =>
		el("th", {scope: "col"}, t(text))), el("td"))), body);

	async function list() {
		const {data} = await get("/app/users");

		told.textContent = "";
		table.hidden = false;
		body.replaceChildren(...data.map((user) => userRow(user,
		    user.name === session.user && !session.outside, act)));
	}

	/* The rows are new ones then: the cursor stays with the user. */
	async function act(name, run) {
		problem.replaceChildren();
		try {
			const done = await run();

			if (!done)
				return;
			await list();
			[...body.rows].find((row) => row.cells[0].textContent ===
			    (name ?? done))?.querySelector("button")?.focus();
			if (!body.contains(document.activeElement))
				add.focus();
		} catch (error) {
			problem.replaceChildren(...reasons(
			    t("user_not_changed"), error));
		}
	}

	async function fill() {
		told.textContent = t("loading");
		await list().catch((error) => told.replaceChildren(
		    failure(t("users_failed"), error, fill)));
	}

	openDialog({title: t("users"), wide: true, content: [
		el("div.row", {}, el("p.faint.grow", {}, t("users_lead")), add),
		problem, told, table]});
	fill();
}
