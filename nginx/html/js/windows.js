/*
 * windows: the other windows of this browser hear of each change of the buyer's
 * edits, and this one of theirs.
 */
import {rest} from "./slices.js";

const AT_ONCE = 1000; /* changes in a message */

/*
 * heard(of, puts, yields) takes [codein, had, one]…; `yields` says which of two
 * windows gives way. Answers tell(of, puts, edits): `puts` are [codein, had], and
 * `edits` knows what stands there now.
 */
export function otherWindows(heard) {
	const channel = new BroadcastChannel("grid.edits");
	const mine = Math.random();
	let telling = Promise.resolve();

	channel.onmessage = ({data: {of, puts, from}}) =>
	    heard(of, puts, mine < from);

	async function send(of, puts, edits) {
		for (let at = 0; at < puts.length; at += AT_ONCE) {
			channel.postMessage({of, from: mine,
			    puts: puts.slice(at, at + AT_ONCE)
				.map(([codein, had]) => [codein, had ?? null,
				    edits.get(codein) ?? null])});
			if (at + AT_ONCE < puts.length)
				await rest();
		}
	}

	/* In the order of the changes, however many each has. */
	return (of, puts, edits) => {
		telling = telling.then(() => send(of, puts, edits));
	};
}
