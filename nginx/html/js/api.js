/*
 * api: one way to ask the server.
 *
 * A session that ended is renewed by the login view and the question asked
 * again, unless it is `open` to everybody. What only reads is asked again while
 * the server cannot be reached; what changes something is not, as it may have
 * been done: its caller decides.
 */
import {connected, waitOffline} from "./notice.js";
import {dayOf, inApi, namesMonths, noteDay} from "./relative.js";
import {language, t} from "./text.js";

export class ApiError extends Error {
	constructor(status, error, retryAfter = 0, said = "en") {
		super(error?.message ?? t("unreachable"));
		this.said = error?.message ?? ""; /* by the server */
		this.language = said;
		this.status = status;
		this.code = error?.code ?? "internal_error";
		this.details = error?.details ?? {};
		this.retryAfter = retryAfter;
	}
}

/* Set by main.js: asks the user to log in again. */
let renewSession = null;

export function onSessionEnd(renew) {
	renewSession = renew;
}

let logins = 0; /* questions that wait for one */

/* Whether a login is waited for: the page asks nothing of its own meanwhile. */
export const awaitsLogin = () => logins > 0;

async function renew(failedAgain) {
	logins++;
	try {
		await renewSession(failedAgain);
	} finally {
		logins--;
	}
}

/*
 * Settled once the session that this page is given anew is there: what was asked
 * with the one before fails until then.
 */
let given = Promise.resolve();

const UNREACHABLE = new Set([0, 502, 504]);

/* Whether nobody can say what became of a question, or this node does not show it. */
export const isUnsure = (error) => UNREACHABLE.has(error.status) ||
    ["unknown", "stored"].includes(error.details?.outcome);

/* The server refused it for now, and did nothing. */
export const isBusy = (error) => error.status === 503 && !isUnsure(error);

/* What to tell while it is asked again: see notice.js. */
const waitOf = ({status}) => status === 0 ? "lost" :
    status === 503 ? "busy" : "silent";

const FORMS = {json: "application/json", csv: "text/csv"};

async function read(reply, form) {
	if (reply.status === 204)
		return {};
	return form === "csv" && reply.status === 200 ? reply.text() :
	    reply.json();
}

/*
 * Months by their names in the API. The newest may be another since it was told
 * last: then the question is asked again.
 */
async function once(method, path, {params = {}, ...options}) {
	if (!namesMonths(params)) {
		const answer = await ofApi(method, path, {params, ...options});

		noteDay(params, answer.meta?.donneesAu);
		return answer;
	}
	if (dayOf(params) === undefined) {
		const {fournisseur} = params;
		const {meta} = await ofApi("GET", "/api/v1/grid", {params:
		    {fournisseur, limit: 1, fields: "codein"},
		signal: options.signal});

		noteDay(params, meta.donneesAu);
	}
	const answer = await ofApi(method, path,
	    {params: inApi(params, dayOf(params)), ...options});

	return noteDay(params, answer.meta?.donneesAu) ? ofApi(method, path,
	    {params: inApi(params, dayOf(params)), ...options}) : answer;
}

function addressOf(path, params) {
	/* A list gives a parameter for each of its values. */
	const query = new URLSearchParams(Object.entries(params)
	    .flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
	    .filter(([, value]) => value != null && value !== ""));

	return query.size > 0 ? `${path}?${query}` : path;
}

const headersOf = (form) =>
    ({Accept: FORMS[form], "Accept-Language": language});

/*
 * The answer to a GET at once: the page stands still meanwhile. For a print by the
 * browser's menu, which does not wait for a promise.
 */
export function getNow(path, params) {
	const request = new XMLHttpRequest();

	request.open("GET", addressOf(path, inApi(params, dayOf(params))), false);
	for (const [name, value] of Object.entries(headersOf("json")))
		request.setRequestHeader(name, value);
	try {
		request.send();
	} catch {
		throw new ApiError(0, null);
	}
	if (request.status !== 200)
		throw new ApiError(request.status, null);
	return JSON.parse(request.responseText);
}

async function ofApi(method, path, {params, body, signal, form = "json"}) {
	const address = addressOf(path, params);
	const options = {method, signal, credentials: "same-origin",
	    headers: headersOf(form)};
	let reply, answer;

	if (body !== undefined) {
		options.headers["Content-Type"] = "application/json";
		options.body = JSON.stringify(body);
	}
	try {
		reply = await fetch(address, options);
		answer = await read(reply, form);
	} catch (error) {
		if (error.name === "AbortError")
			throw error;
		throw new ApiError(reply === undefined ? 0 : 502, null);
	}
	if (reply.ok && reply.status !== 202)
		return answer;
	throw new ApiError(reply.status, UNREACHABLE.has(reply.status) ? null :
	    answer.error,
	    Number(reply.headers.get("Retry-After")) || 0,
	    reply.headers.get("Content-Language") ?? "en");
}

/* Resolves to the answer's JSON; rejects with ApiError, or AbortError. */
export async function ask(method, path, options = {}) {
	for (let tries = 0; ; tries++) {
		try {
			const answer = await once(method, path, options);

			connected();
			return answer;
		} catch (error) {
			if (error.status === 401 && !options.open) {
				if (!options.givesSession)
					await given;
				await renew(tries > 0);
			} else if ((isUnsure(error) || isBusy(error)) &&
			    method === "GET")
				await waitOffline(error.retryAfter ||
				    Math.min(2 + 2 * tries, 15), waitOf(error));
			else
				throw error;
			options.signal?.throwIfAborted();
		}
	}
}

/* The answer has another session in place of this one. */
export function askForSession(method, path, options) {
	const answer = ask(method, path, {...options, givesSession: true});

	given = answer.catch(() => {});
	return answer;
}

export const get = (path, params, options = {}) =>
    ask("GET", path, {params, ...options});

/* A value of a CSV answer. */
export const unquoted = (text) => text.startsWith('"') ?
    text.slice(1, -1).replaceAll('""', '"') : text;

/* The lines of a CSV answer behind the first, which names the columns. */
export async function getLines(path, params, options = {}) {
	const text = await ask("GET", path, {params, form: "csv", ...options});
	const lines = text.split(/\r?\n/).slice(1);

	if (lines.at(-1) === "")
		lines.pop();
	return lines;
}

export const post = (path, body) => ask("POST", path, {body});
export const remove = (path) => ask("DELETE", path);
