/*
 * login: the page before all others. After a session has ended it is a window
 * over whatever was open, which it leaves as it was.
 */
import {ask} from "./api.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import {placeNotices} from "./notice.js";
import {t} from "./text.js";

/*
 * Tries to begin a session by the organisation's account that this browser is
 * signed in with: the session; null where it is not, or may not come in.
 */
async function admitted() {
	try {
		return (await ask("POST", "/app/outside/session",
		    {open: true})).data;
	} catch (error) {
		if (error.status === 401)
			return null;
		throw error;
	}
}

/* Where to sign in with an account of the organisation; null: nowhere. */
async function signInPlace() {
	try {
		return (await ask("GET", "/app/outside", {open: true}))
		    .data.signIn;
	} catch {
		return null;
	}
}

const SIGNED_OUT = "signed-out"; /* of this window, by the user */

export const noteSignedOut = () => sessionStorage.setItem(SIGNED_OUT, "1");

/* The same without a word, unless the user has just logged out; null. */
export async function enterByAccount() {
	if (sessionStorage.getItem(SIGNED_OUT) !== null ||
	    await signInPlace() === null)
		return null;
	return admitted().catch(() => null);
}

/* A button for it, once there is a place to sign in; `entered` has a session. */
function accountButton(problem, entered) {
	const button = el("button.account", {type: "button", hidden: true},
	    t("login_account"));
	let place = null;

	signInPlace().then((found) => {
		place = found;
		button.hidden = place === null;
	});
	button.addEventListener("click", async () => {
		button.disabled = true;
		problem.textContent = "";
		try {
			const session = await admitted();

			if (session === null)
				location.assign(place);
			else
				entered(session);
		} catch (error) {
			problem.replaceChildren(...error.status === 403 ?
			    [t("login_account_not")] : reasons("", error));
		} finally {
			button.disabled = false;
		}
	});
	return button;
}

function field(id, label, type, autocomplete) {
	const input = el("input", {id, name: id, type, autocomplete,
	    required: true, autocapitalize: "none", spellcheck: "false"});

	return [input, el("div.field", {}, el("label", {for: id}, label), input)];
}

function wordsFor(error) {
	if (error.status === 401)
		return t("login_wrong");
	if (error.status === 429)
		return t("login_wait");
	return reasons("", error);
}

/* A window that only a login closes; the old one comes back after it. */
function showOver(page) {
	let had = document.activeElement;

	page.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			event.preventDefault();
	});
	page.addEventListener("cancel", (event) => event.preventDefault());
	page.addEventListener("close", () => {
		if (page.isConnected) {
			had = document.activeElement;
			show();
		}
	});
	/* The last in the page: notices stand in it. */
	function show() {
		document.body.append(page);
		page.showModal();
		placeNotices();
	}

	show();
	return () => {
		page.remove();
		placeNotices();
		had?.focus();
	};
}

function showIn(host, page) {
	host.append(page);
	return () => page.remove();
}

/*
 * Shows the form in `host`, or over all else when that is null; resolves to the
 * session once there is one.
 */
export function logIn(host, {lead = t("login_lead"), known = ""} = {}) {
	return new Promise((resolve) => {
		const [user, userField] = field("user", t("user"), "text",
		    "username");
		const [password, passwordField] = field("password",
		    t("password"), "password", "current-password");
		const problem = el("p.problem", {role: "alert"});
		const button = el("button.primary", {}, t("login"));
		const enter = (session) => {
			sessionStorage.removeItem(SIGNED_OUT);
			gone();
			resolve(session);
		};
		const form = el("form.login-card", {novalidate: true},
		    el("div.brand", {}, el("img", {src: "icon.svg", alt: "",
			width: 36, height: 36}), el("h1", {}, t("title"))),
		    el("p.lead", {}, lead), userField, passwordField, problem,
		    button, accountButton(problem, enter));

		user.value = known;
		form.addEventListener("submit", async (event) => {
			event.preventDefault();
			if (!user.value || !password.value) {
				problem.textContent = t("login_missing");
				(user.value ? password : user).focus();
				return;
			}
			button.disabled = true;
			problem.textContent = "";
			try {
				const {data} = await ask("POST", "/app/session",
				    {open: true, body: {user: user.value,
					password: password.value}});

				enter(data);
			} catch (error) {
				problem.replaceChildren(
				    ...[wordsFor(error)].flat());
				password.value = "";
				password.focus();
			} finally {
				button.disabled = false;
			}
		});
		const gone = host === null ?
		    showOver(el("dialog.login", {"aria-label": t("login")},
			form)) : showIn(host, el("main.login", {}, form));

		/* Also when it is shown again over a window that has opened. */
		(known ? password : user).autofocus = true;
		(known ? password : user).focus();
	});
}
