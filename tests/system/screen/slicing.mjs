/*
 * slicing: long lists are worked through in slices. What a slice may take is a
 * time; here each look at the clock finds that time used up, so that the number
 * of slices is that of the articles, however fast the machine.
 */
import assert from "node:assert/strict";
import {open, ROWS, totalIs} from "./kit.mjs";

const MANY = 256; /* articles between two looks at the clock: slices.js */

const slow = (page) => page.evaluate(() => {
	const now = performance.now.bind(performance);
	let more = 0;

	window.slices = 0;
	performance.now = () => now() + (more += 100);
	globalThis.scheduler ??= {};
	scheduler.yield = () => {
		window.slices++;
		return new Promise((resolve) => setTimeout(resolve));
	};
});

/* How many slices end while `run` is done. */
async function slicesOf(page, run) {
	const before = await page.evaluate(() => window.slices);

	await run();
	return await page.evaluate(() => window.slices) - before;
}

/* The foot tells how many are chosen once they have been counted. */
const tickAll = async (page, on) => {
	await page.click(".ag-header .tick");
	await page.waitForSelector(".foot.with-chosen",
	    {state: on ? "attached" : "detached"});
};

/* Notes each task of over 50 ms. */
const listen = (page) => page.evaluate(() => {
	window.tasks = [];
	new PerformanceObserver((list) => window.tasks.push(...list.getEntries()
	    .map(({duration}) => Math.round(duration))))
	    .observe({type: "longtask"});
});

/* To be read, not judged: it depends on the machine and what else it does. */
async function tellTasks(page, what) {
	const tasks = await page.evaluate(() => window.tasks.splice(0));

	console.log(`    ${what}, ${ROWS} rows: tasks over 50 ms: ${
	    tasks.length === 0 ? "none" : tasks.join(", ")}`);
}

export async function slicing(day, browser) {
	const page = day.page = await open(browser);
	const whole = Math.floor(ROWS / MANY);

	await day.check("ranges of all rows are set, counted and kept in slices",
	    async () => {
		await listen(page);
		await tickAll(page, true);
		await tellTasks(page, "all selected");
		await page.locator(".set-chosen button").nth(0).click();
		await page.click("dialog footer .primary:enabled");
		await page.waitForSelector("dialog", {state: "detached"});
		await tellTasks(page, "set");
		await page.locator(".set-chosen button").nth(1).click();
		const kept = page.waitForResponse((reply) =>
		    reply.request().method() === "PUT" && reply.ok());

		await page.click("dialog footer .primary:enabled");
		await page.waitForSelector("dialog", {state: "detached"});
		await kept;
		await tellTasks(page, "set anew and kept");
		await tickAll(page, false);
		const edits = Number((await page.textContent(
		    ".foot .counts .mine")).replace(/\D/g, ""));
		const few = Math.floor(edits / MANY);

		assert.ok(few > 0);
		await slow(page);
		const chosen = await slicesOf(page, () => tickAll(page, true));

		assert.ok(chosen >= whole + few,
		    `${chosen} slices for ${whole} and ${few}`);
		await tickAll(page, false);
		const filtered = await slicesOf(page, async () => {
			await page.click(".choice label:has(input[value=mine])");
			await totalIs(page, edits);
			await page.waitForFunction(() => /\d\s*affich/.test(
			    document.querySelector(".foot .primary")
				.textContent));
		});

		assert.ok(filtered >= few, `${filtered} slices for ${few}`);
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
