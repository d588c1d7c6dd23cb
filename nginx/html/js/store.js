/*
 * store: what the browser keeps between visits: columns, the last supplier,
 * edits not yet saved. Never a secret. A browser that keeps nothing (private
 * windows, a full disk) only forgets.
 */
const PREFIX = "grid.";

/* The names here that begin with `start`. */
export function namesOf(start) {
	try {
		return Object.keys(localStorage)
		    .filter((key) => key.startsWith(PREFIX + start))
		    .map((key) => key.slice(PREFIX.length));
	} catch {
		return [];
	}
}

export function recall(name, fallback = null) {
	try {
		const text = localStorage.getItem(PREFIX + name);

		return text == null ? fallback : JSON.parse(text);
	} catch {
		return fallback;
	}
}

export function remember(name, value) {
	try {
		if (value == null)
			localStorage.removeItem(PREFIX + name);
		else
			localStorage.setItem(PREFIX + name,
			    JSON.stringify(value));
		return true;
	} catch {
		return false;
	}
}
