/*
 * slicing: long lists are worked through in slices. What a slice may take is a
 * time; here each look at the clock finds that time used up, so that the number
 * of slices is that of the articles, however fast the machine.
 */
import assert from "node:assert/strict";
import {open, ROWS, rowsDrawn, totalIs} from "./kit.mjs";

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

/*
 * Scrolls to rows that are loaded, while each look at the clock finds 7 ms more:
 * the most looks that a frame takes, which end each task of the drawing.
 */
const looksInAFrame = (page) => page.evaluate(async () => {
	const view = document.querySelector(
	    ".ag-body-vertical-scroll-viewport");
	const {now} = Date, {requestAnimationFrame: frame} = window;
	let more = 0, looks = 0, most = 0;

	Date.now = () => {
		looks++;
		return now() + (more += 7);
	};
	window.requestAnimationFrame = (run) => frame((at) => {
		looks = 0;
		run(at);
		most = Math.max(most, looks);
	});
	view.scrollTop = 60 * document.querySelector(".ag-row").offsetHeight;
	while (!document.querySelector('.ag-row[row-index="60"] .kind-label')
	    ?.textContent)
		await new Promise((resolve) => setTimeout(resolve, 20));
	Object.assign(Date, {now});
	window.requestAnimationFrame = frame;
	return most;
});

export async function slicing(day, browser) {
	const page = day.page = await open(browser);
	const whole = Math.floor(ROWS / MANY);

	await day.check("rows in sight are drawn in frames of a few tasks",
	    async () => {
		const most = await looksInAFrame(page);

		/* One at the start, three that find 7, 14 and 21 ms. */
		assert.ok(most > 1 && most < 8, `${most} looks`);
		await page.evaluate(() =>
		    productGrid.grid.ensureIndexVisible(0, "top"));
		await rowsDrawn(page);
	});

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
