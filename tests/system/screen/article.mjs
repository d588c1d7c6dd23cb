/* article: the panel beside the grid. */
import assert from "node:assert/strict";
import {another, cell, codeAt, grid, product} from "./kit.mjs";

/* Of the first rows, one that the network knows. */
async function knownToNetwork() {
	const {data} = await grid("limit=15&fields=network");
	const at = data.findIndex(({network}) => network !== null);

	assert.ok(at >= 0, "no article with network data in sight");
	return at;
}

const figures = (page, nth) => page.locator(".figures").nth(nth)
    .locator("tbody tr").evaluateAll((rows) => rows.map((row) =>
	[...row.querySelectorAll("td")].map((one) =>
	    Number(one.textContent.replace(/[^\d,-]/g, "")
		.replace(",", ".")))));

const rounded = (value) => Math.round(value * 10) / 10;

export async function article(day) {
	const {page} = day;

	await day.check("Enter opens the article with the API's figures",
	    async () => {
		const at = await knownToNetwork();

		await page.evaluate((row) => productGrid.grid
		    .ensureIndexVisible(row, "top"), at);
		await cell(page, at, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		const row = await product(await codeAt(page, at));
		const months = Object.keys(row.stock12m).sort();
		const network = Object.keys(row.qteReseauByMonth).sort();

		assert.equal(await page.textContent(".article-head h2"),
		    row.libelle1);
		assert.deepEqual((await figures(page, 0)).map(([sold]) => sold),
		    months.map((month) => rounded(row.sales12m[month] ?? 0)));
		assert.deepEqual((await figures(page, 1)).map(([qty]) => qty),
		    network.map((month) => rounded(row.qteReseauByMonth[month])));
		assert.ok((await page.textContent(".trend-line"))
		    .includes(row.trend.label));
		assert.equal(await page.locator("table.stores tbody tr").count(),
		    Object.keys(row.sales12mByStore).length);
		assert.ok((await page.textContent(".presence b"))
		    .startsWith(String(row.network.nbMagasinsReseau)));
		await page.waitForTimeout(200);
		await day.axe("article");
		await page.locator(".panel-body").evaluate((one) => {
			one.scrollTop = one.scrollHeight;
		});
		await day.shot("article-end");
	});
	await day.check("arrows go to the next article, Escape closes",
	    async () => {
		const was = await page.textContent(".article-head h2");

		await page.keyboard.press("ArrowDown");
		await page.waitForFunction((text) => document.querySelector(
		    ".article-head h2")?.textContent !== text, was);
		await page.click(".panel-tools button:first-child");
		await page.waitForFunction((text) => document.querySelector(
		    ".article-head h2")?.textContent === text, was);
		await page.keyboard.press("Escape");
		await page.waitForSelector(".panel", {state: "hidden"});
	});
	await day.check("in the panel, too, a letter sets the range",
	    async () => {
		const {codeGamme} = await product(await codeAt(page, 1));
		const letter = another(codeGamme);

		await cell(page, 1, "libelle1").hover();
		await cell(page, 1, "libelle1").locator(".open").click();
		await page.waitForSelector(".panel .range-buttons");
		await page.focus(".panel-tools button");
		await page.keyboard.press(letter);
		await page.waitForSelector(
		    `.range-buttons [aria-pressed=true]:has-text("${letter}")`);
		await page.keyboard.press("Escape");
		await page.click(".foot button.ghost");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
	});
}
