/*
 * shifts: what is on the page stays where it is while the rest comes: by the
 * browser's own measure over a login, a supplier, filters, an article and F5,
 * and in windows whose answers come late.
 */
import assert from "node:assert/strict";
import {cell, chooseSupplier, forgetDrafts, hold, logIn, open, openPage,
    rowsDrawn, SUPPLIER} from "./kit.mjs";

const MOST = 0.02; /* in all; the browser leaves out what answers a key at once */

/* Notes each move as [value, what moved]. */
const noteMoves = () => {
	window.moves = [];
	new PerformanceObserver((list) => window.moves.push(...list.getEntries()
	    .filter(({hadRecentInput}) => !hadRecentInput)
	    .map(({value, sources}) => [value, sources.map(({node}) =>
		`${node?.nodeName}.${node?.className}`).join(" ")])))
	    .observe({type: "layout-shift", buffered: true});
};

async function fewMoves(page) {
	/* The browser tells of a frame's moves in the next ones. */
	await page.evaluate(() => new Promise((go) => requestAnimationFrame(() =>
	    requestAnimationFrame(() => setTimeout(go)))));
	const moves = await page.evaluate(() => window.moves);
	const sum = moves.reduce((all, [value]) => all + value, 0);

	assert.ok(sum < MOST, `${sum}: ${JSON.stringify(moves)}`);
}

/* The window's place before and after its answer. */
async function staysThere(page, opener, path, shows) {
	const answers = await hold(page, path);
	const place = () => page.locator("dialog[open] header").boundingBox();

	await page.click(opener);
	await page.waitForSelector("dialog[open]");
	await answers.holds(1);
	const before = await place();

	await answers.letGo();
	await page.locator(shows).first().waitFor();
	assert.deepEqual(await place(), before);
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog", {state: "detached"});
}

export async function shifts(day, browser) {
	await day.check("nothing moves while the page fills", async () => {
		const page = day.page = await openPage(browser);

		await page.context().addInitScript(noteMoves);
		await page.reload();
		await logIn(page);
		await forgetDrafts(page);
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		await page.click(".choice label:has(input[value=A])");
		await rowsDrawn(page);
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		await page.keyboard.press("Escape");
		await fewMoves(page);
		await page.evaluate((supplier) => {
			location.hash = `#${supplier}?where=${
			    encodeURIComponent("stockActuel=gt.0")}`;
		}, SUPPLIER);
		await page.waitForSelector(".chips li");
		await page.reload();
		await rowsDrawn(page);
		await fewMoves(page);
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
	await day.check("a window stays where it is when its answer comes",
	    async () => {
		const page = day.page = await open(browser);

		await staysThere(page, ".filters .summary",
		    "**/api/v1/grid/aggregates?*", "dialog tbody tr");
		await staysThere(page, ".top .inbox", "**/app/waiting",
		    "dialog [role=status], dialog tbody tr");
		await staysThere(page, "header.top button.user", "**/app/keys",
		    "dialog .keys");
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
	await day.check("a range before a supplier is chosen breaks nothing",
	    async () => {
		const page = day.page = await openPage(browser);

		await logIn(page);
		await forgetDrafts(page);
		await page.keyboard.press("Escape");
		await page.locator("input[name=gamme][value=A]").check(
		    {force: true});
		await page.keyboard.press("f");
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
}
