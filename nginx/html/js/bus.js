/*
 * bus: what happened, told to whoever listens. The views know this and the
 * models, not each other.
 *
 *	supplier   another supplier was chosen        {code, nom}
 *	filters    what is shown changed
 *	ranges     proposals or the buyer's edits changed
 *	total      how many rows the filters match
 *	article    an article is to be shown, or null
 */
const target = new EventTarget();

export function on(name, run) {
	target.addEventListener(name, (event) => run(event.detail));
}

export function emit(name, detail) {
	target.dispatchEvent(new CustomEvent(name, {detail}));
}
