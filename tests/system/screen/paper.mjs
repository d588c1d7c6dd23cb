/* paper: prints, columns that fit, notices that go when they are void. */
import assert from "node:assert/strict";
import {cell, codeAt, grid, open, ROWS, totalIs} from "./kit.mjs";

/* A browser prints between these two events. */
const stubPrint = (page) => page.evaluate(() => {
	window.print = () => dispatchEvent(new Event("beforeprint"));
});

const printed = (page) => page.locator(".paper tbody tr");

async function printing(day, page) {
	await day.check("Ctrl+P prints all rows of the filters", async () => {
		const {pagination: {total}, data} =
		    await grid("gamme=A&fields=libelle1");

		await stubPrint(page);
		await page.click(".choice label:has(input[value=A])");
		await totalIs(page, total);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+p");
		await printed(page).first().waitFor({state: "attached"});
		await page.emulateMedia({media: "print"});
		assert.equal(await printed(page).count(), Math.min(total, 2000));
		assert.equal(await page.locator(".paper thead th").count(),
		    await page.evaluate(() => productGrid.grid
			.getAllDisplayedColumns()
			.filter((one) => !one.getColId().startsWith("ag-"))
			.length));
		const last = Math.min(total, 2000) - 1;

		assert.ok((await printed(page).nth(last).textContent())
		    .includes(data[last].libelle1));
		assert.match(await page.textContent(".paper p"), /Gamme A/);
		assert.ok(await page.locator(".paper").isVisible());
		assert.ok(!await page.locator(".screen").isVisible());
		await page.evaluate(() =>
		    dispatchEvent(new Event("afterprint")));
		await page.emulateMedia({media: "screen"});
		assert.equal(await page.locator(".paper").count(), 0);
		await page.click(".choice label:has(input[value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("an open article is printed by itself", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		await page.keyboard.press("Control+p");
		await page.waitForFunction(() =>
		    document.body.dataset.print === "article");
		await page.emulateMedia({media: "print"});
		assert.ok(await page.locator(".article-head h2").isVisible());
		assert.ok(!await page.locator(".ag-root").isVisible());
		assert.ok(!await page.locator(".foot").isVisible());
		await page.emulateMedia({media: "screen"});
		await page.keyboard.press("Escape");
	});
}

export async function paper(day, browser) {
	const page = day.page = await open(browser);

	await printing(day, page);
	await day.check("two clicks on a column's edge make it fit", async () => {
		const label = page.locator(
		    ".ag-header-cell[col-id=totalCa]");
		const width = async () => (await label.boundingBox()).width;
		const before = await width();

		await label.locator(".ag-header-cell-resize").dblclick();
		await page.waitForFunction((was) => document.querySelector(
		    ".ag-header-cell[col-id=totalCa]").offsetWidth !== was,
		before);
		const widest = await page.evaluate(() => Math.max(
		    ...[...document.querySelectorAll(
			".ag-cell[col-id=totalCa]")].map((one) =>
			one.scrollWidth - one.clientWidth)));

		assert.ok(widest <= 0);
	});
	await day.check("Undo leaves the notice of what is undone", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await page.waitForFunction((count) =>
		    productGrid.chosen().length === count, ROWS);
		await page.keyboard.press("Escape");
		await page.keyboard.press("C");
		await page.click("dialog footer .primary");
		await page.waitForSelector(".notice .link");
		await page.keyboard.press("Control+z");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		assert.equal(await page.locator(".notice .link").count(), 0);
		assert.equal(await page.locator(".notice").count(), 1);
		await page.click(".counts .link");
	});
	assert.deepEqual(page.problems, []);
	await page.context().close();
	await day.check("English numbers in the column of trends", async () => {
		const english = await open(browser, {locale: "en-GB"});

		day.page = english;
		const {data} = await grid("limit=20&fields=trend");

		await english.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("trend"));
		for (const [at, {trend}] of data.entries()) {
			if (trend === null || trend.direction === "flat" ||
			    trend.pct === null || at > 12)
				continue;
			const text = await cell(english, at, "trend")
			    .textContent();

			assert.equal(await codeAt(english, at),
			    data[at].codein);
			assert.match(text, /[+-]\d[\d,]*%/);
		}
		await english.context().close();
	});
}
