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

/*
 * Settled once the session that this page is given anew is there: what was asked
 * with the one before fails until then.
 */
let given = Promise.resolve();

const UNREACHABLE = new Set([0, 502, 504]);

/* Whether nobody can say what became of a question. */
export const isUnsure = (error) => UNREACHABLE.has(error.status) ||
    error.details?.outcome === "unknown";

/* The server refused it for now, and did nothing. */
export const isBusy = (error) => error.status === 503 && !isUnsure(error);

/* What to tell while it is asked again: see notice.js. */
const waitOf = ({status}) => status === 0 ? "lost" :
    status === 503 ? "busy" : "silent";

const FORMS = {json: "application/json", csv: "text/csv", file: "*/*"};

const FILE_NAME = /filename="?([^";]+)/;
const LINE_END = 10;

/*
 * A whole file: {blob, name, total}. `progress` hears of the bytes and lines
 * that have come, and how many rows there will be, 0 where nobody says.
 */
async function readFile(reply, progress) {
	const total = Number(reply.headers.get("X-Total-Count")) || 0;
	const [, name] = FILE_NAME.exec(
	    reply.headers.get("Content-Disposition")) ?? [];
	const reader = reply.body.getReader(), parts = [];
	let bytes = 0, lines = 0;

	for (;;) {
		const {done, value} = await reader.read();

		if (done)
			break;
		parts.push(value);
		bytes += value.length;
		for (let at = value.indexOf(LINE_END); at >= 0;
		    at = value.indexOf(LINE_END, at + 1))
			lines++;
		progress?.({bytes, lines, total});
	}
	return {blob: new Blob(parts,
	    {type: reply.headers.get("Content-Type") ?? ""}), name, total};
}

async function read(reply, form, progress) {
	if (reply.status === 204)
		return {};
	if (form === "file" && reply.status === 200)
		return readFile(reply, progress);
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

async function ofApi(method, path, {params, body, signal, form = "json",
    progress}) {
	/* A list gives a parameter for each of its values. */
	const query = new URLSearchParams(Object.entries(params)
	    .flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
	    .filter(([, value]) => value != null && value !== ""));
	const address = query.size > 0 ? `${path}?${query}` : path;
	const options = {method, signal, credentials: "same-origin",
	    headers: {Accept: FORMS[form], "Accept-Language": language}};
	let reply, answer;

	if (body !== undefined) {
		options.headers["Content-Type"] = "application/json";
		options.body = JSON.stringify(body);
	}
	try {
		reply = await fetch(address, options);
		answer = await read(reply, form, progress);
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
				await renewSession(tries > 0);
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
