/*
 * errors: what went wrong, in the page's words by the code of the API's error;
 * what the server says about it stands behind, in its own language.
 */
import {ApiError, isBusy, isUnsure} from "./api.js";
import {el} from "./dom.js";
import {tell} from "./notice.js";
import {t} from "./text.js";

const BY_CODE = new Set(["unauthorized", "forbidden", "bad_request",
    "not_found", "not_ready", "internal_error"]);

function words(error) {
	if (isUnsure(error))
		return t("unreachable");
	if (isBusy(error))
		return t("error_busy");
	if (error.status === 429)
		return t("error_too_many");
	return t(BY_CODE.has(error.code) ? `error_${error.code}` :
	    "error_other");
}

/* What is wrong with a body is more than that something is. */
const issuesOf = ({issues}) => Array.isArray(issues) && issues
    .map(({path, parameter, message}) => `${path ?? parameter}: ${message}`)
    .join("; ");

function said(error) {
	const text = error instanceof ApiError ?
	    issuesOf(error.details) || error.said : String(error);

	return text && el("span.said", {lang: error.language ?? "en"}, text);
}

/* `lead`, "" for none, says what could not be done. To stand in an element. */
export const reasons = (lead, error) =>
    [`${lead} ${words(error)}`.trim(), said(error)].filter((part) => part);

/*
 * The same in the place of what could not be read; `again` asks once more. Its
 * button has the focus where another one had it, which is gone.
 */
export function failure(lead, error, again) {
	const button = el("button", {type: "button", onclick: again}, t("retry"));

	queueMicrotask(() => document.activeElement === document.body &&
	    button.focus());
	return el("div.failure", {role: "alert"},
	    el("p.problem", {}, reasons(lead, error)), button);
}

/* The same as a notice that stays; `options` are those of tell(). */
export const complain = (lead, error, options = {}) =>
    tell(reasons(lead, error), {error: true, ...options});
