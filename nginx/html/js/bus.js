/*
 * bus: what happened, told to whoever listens. The views know this and the
 * models, not each other.
 *
 *	supplier   another supplier was chosen        {code, nom}
 *	filter     what is shown changed              {search, gamme, show}
 *	class      a class was chosen                 its code
 *	ranges     proposals or the buyer's edits changed
 *	selection  other rows are selected
 *	recorded   the server said what is recorded now: Map codein -> ranges
 *	period     the twelve months are others
 *	decided    changes were saved or cancelled
 *	merged     edits of another window have come: see merging.js
 *	unkept     the browser does not keep the edits
 *	waiting-none   proposals wait at no other supplier
 *	density    rows are of another height
 *	theme      light or dark was turned over
 */
const target = new EventTarget();

export function on(name, run) {
	target.addEventListener(name, (event) => run(event.detail));
}

export function emit(name, detail) {
	target.dispatchEvent(new CustomEvent(name, {detail}));
}
