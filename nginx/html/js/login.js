/* login: the page before all others, and after a session has ended. */
import {ask} from "./api.js";
import {el} from "./dom.js";
import {t} from "./text.js";

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
	return error.message;
}

/* Shows the form in `host`; resolves to the session once there is one. */
export function logIn(host, {lead = t("login_lead"), known = ""} = {}) {
	return new Promise((resolve) => {
		const [user, userField] = field("user", t("user"), "text",
		    "username");
		const [password, passwordField] = field("password",
		    t("password"), "password", "current-password");
		const problem = el("p.problem", {role: "alert"});
		const button = el("button.primary", {}, t("login"));
		const form = el("form.login-card", {novalidate: true},
		    el("div.brand", {}, el("img", {src: "icon.svg", alt: "",
			width: 36, height: 36}), el("h1", {}, t("title"))),
		    el("p.lead", {}, lead), userField, passwordField, problem,
		    button);

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

				page.remove();
				resolve(data);
			} catch (error) {
				problem.textContent = wordsFor(error);
				password.value = "";
				password.focus();
			} finally {
				button.disabled = false;
			}
		});
		const page = el("main.login", {}, form);

		host.append(page);
		(known ? password : user).focus();
	});
}
