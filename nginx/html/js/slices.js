/*
 * slices: long lists, worked through without holding up the page: a key that is
 * pressed meanwhile is heard between two slices.
 */
const SLICE_MS = 12;
const MANY = 256; /* items between two looks at the clock */

/* Ends the task: what keys and the screen wait for comes first. */
export const rest = () => globalThis.scheduler?.yield?.() ??
    new Promise((resolve) => setTimeout(resolve));

/* Runs `run` for each item; `progress`, if any, hears how many are done. */
export async function inSlices(list, run, progress = null) {
	let since = performance.now(), done = 0;

	for (const item of list) {
		run(item);
		if (++done % MANY !== 0 || performance.now() - since < SLICE_MS)
			continue;
		progress?.(done);
		await rest();
		since = performance.now();
	}
}

const AT_ONCE = 500; /* rows between two looks at what waits */

/* Runs `run` for a few hundred at a time of the lists that come one by one. */
export async function inPortions(lists, run) {
	for await (const list of lists)
		for (let from = 0; from < list.length; from += AT_ONCE) {
			await run(list.slice(from, from + AT_ONCE));
			await rest();
		}
}
