/* password: the window in which a buyer gives oneself another password. */
import {askForSession} from "./api.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import {tell} from "./notice.js";
import {t} from "./text.js";

const SHORTEST = 8; /* bytes, as the server has it */

export const isShort = (password) =>
    new TextEncoder().encode(password).length < SHORTEST;

function field(id, label, kind) {
	const input = el("input", {id, type: "password", autocomplete: kind,
	    required: true});

	return [input, el("div.field", {}, el("label", {for: id}, label), input)];
}

/* What is wrong with what was typed: [the field, why]; null for nothing. */
function wrongIn(old, fresh, again) {
	const empty = [old, fresh, again].find((one) => one.value === "");

	if (empty !== undefined)
		return [empty, "password_missing"];
	if (isShort(fresh.value))
		return [fresh, "password_short"];
	return fresh.value === again.value ? null : [again, "password_differs"];
}

export function openPassword(user) {
	const [old, oldField] = field("password-now", t("password_now"),
	    "current-password");
	const [fresh, freshField] = field("password-new", t("password_new"),
	    "new-password");
	const [again, againField] = field("password-again",
	    t("password_again"), "new-password");
	const problem = el("p.problem", {role: "alert"});
	const go = el("button.primary", {}, t("password_change"));

	function refuse(input, why) {
		problem.replaceChildren(...[why].flat());
		input.select();
		input.focus();
	}

	async function change() {
		go.disabled = true;
		problem.replaceChildren();
		try {
			await askForSession("PUT", "/app/password", {body: {
			    password: old.value, newPassword: fresh.value}});
			window.close();
			tell(t("password_changed"));
		} catch (error) {
			refuse(old, error.status === 403 ?
			    t("password_wrong") :
			    reasons(t("password_failed"), error));
		} finally {
			go.disabled = false;
		}
	}

	const window = openDialog({title: t("password_title"), content: [
		el("p.faint", {}, t("password_lead")),
		el("form.password", {novalidate: true, onsubmit(event) {
			const wrong = wrongIn(old, fresh, again);

			event.preventDefault();
			if (wrong !== null)
				refuse(wrong[0], t(wrong[1]));
			else
				change();
		}},
		/* For programs that keep passwords: whose this one is. */
		el("input", {type: "text", autocomplete: "username",
		    value: user, hidden: true, readonly: true}),
		oldField, freshField, againField, problem, go)]});

	old.focus();
}
