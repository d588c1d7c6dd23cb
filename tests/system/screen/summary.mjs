/* summary: subtotals and bars of what is filtered, and how high rows are. */
import assert from "node:assert/strict";
import {api, grid, open, rowsDrawn, ROWS, SUPPLIER, totalIs} from "./kit.mjs";

const aggregates = async (query) => (await api("GET",
    `/api/v1/grid/aggregates?fournisseur=${SUPPLIER}&${query}`)).json;

const by = async (page, value) => {
	await page.locator(`input[name=sum-by][value=${value}]`).check(
	    {force: true});
};

/* The rows of the window's table: [[label, articles, sum, …]]. */
const lines = (page) => page.evaluate(() => [...document.querySelectorAll(
    ".sum-table tbody tr")].map((row) => [...row.cells].map(({textContent}) =>
	textContent)));

const number = (text) => Number(text.replace(/[^\d,−-]/g, "")
    .replace("−", "-").replace(",", "."));

async function linesOf(page, count) {
	await page.waitForFunction((n) => document.querySelectorAll(
	    ".sum-table tbody tr").length === n, count);
	return lines(page);
}

const noDialog = (page) => page.waitForSelector("dialog",
    {state: "detached"});

const height = (page) => page.evaluate(() => document.querySelector(
    '.ag-row[row-index="1"]').getBoundingClientRect().height);

export async function summary(day, browser) {
	const page = day.page = await open(browser);

	await day.check("ranges are added up, and a bar leaves its rows",
	    async () => {
		const {data} = await aggregates("groups=codeGamme&values=totalCa");

		await page.keyboard.press("g");
		await page.waitForSelector("dialog .sum-table");
		await by(page, "range");
		const found = await linesOf(page, data.length);

		for (const [i, {codeGamme, articles, valeurs}] of data.entries()) {
			assert.equal(found[i][0], codeGamme ?? "(aucune)");
			assert.equal(number(found[i][1]), articles);
			assert.equal(number(found[i][3]),
			    Math.round(valeurs.totalCa.sum));
		}
		await day.axe("summary-range");
		const b = data.find(({codeGamme}) => codeGamme === "B");

		await page.locator(".sum-table button",
		    {hasText: /^B$/}).click();
		await noDialog(page);
		await totalIs(page, b.articles);
		assert.ok(await page.isChecked("input[name=gamme][value=B]"));
	});
	await day.check("classes and brands of the filtered rows, one in another",
	    async () => {
		const {data} = await aggregates(
		    "gamme=B&groups=code1&values=totalCa");

		await page.keyboard.press("Escape");
		await page.click(".filters .summary");
		await by(page, "class");
		const found = await linesOf(page, data.length);

		/* A class without a label is named as in the tree. */
		assert.ok(found.some(([name]) => /^\d+ \(sans/.test(name)));
		assert.ok(found.every(([name]) => !/^\d+$/.test(name)));
		await day.shot("summary-class");
		await page.locator(".sum-table button").first().click();
		await noDialog(page);
		await totalIs(page, data[0].articles);
		const brands = await aggregates(`gamme=B&nomenclature=${
			data[0].code1}&groups=marque&values=totalCa&limit=40`);

		await page.click(".filters .summary");
		await by(page, "brand");
		await page.waitForFunction((text) => document.querySelector(
		    ".sum-table button")?.textContent === text,
		brands.data[0].marque ?? "(aucune)");
		await page.locator(".sum-table button").first().click();
		await noDialog(page);
		await totalIs(page, brands.data[0].articles);
		assert.equal(await page.locator(".chips li").count(), 1);
	});
	await day.check("months are a line, with their figures", async () => {
		const months = await aggregates("groups=mois&values=sales12m");

		await page.evaluate((code) => {
			location.hash = `#${code}`;
		}, SUPPLIER);
		await totalIs(page, ROWS);
		await page.click(".filters .summary");
		await by(page, "month");
		const found = await linesOf(page, 12);

		assert.deepEqual(found.map(([, sum]) => number(sum))
		    .sort((a, b) => a - b),
		months.data.map(({valeurs}) => Number(valeurs.sales12m.sum
		    .toFixed(1))).sort((a, b) => a - b));
		assert.equal(await page.locator(".month-line circle").count(), 12);
		/* The scale's quarters are said as they are, and it is used. */
		const scale = await page.evaluate(() => [...document
		    .querySelectorAll(".month-line text[text-anchor=end]")]
		    .map(({textContent}) => Number(textContent
			.replace(",", ".").replace(/[^\d.]/g, "")) *
			(textContent.includes("M") ? 1000 :
			    textContent.includes("k") ? 1 : 0.001)));
		const most = Math.max(...months.data.map(({valeurs}) =>
		    valeurs.sales12m.sum)) / 1000;

		assert.equal(scale.length, 5);
		scale.forEach((value, i) => assert.ok(
		    Math.abs(value - scale[4] * i / 4) < 1e-6, `${scale}`));
		assert.ok(most <= scale[4] && most > scale[4] * 0.6,
		    `${most} below ${scale[4]}`);
		await day.axe("summary-month");
		await page.keyboard.press("Escape");
	});
	await day.check("rows are as high as the buyer chooses, also later",
	    async () => {
		const usual = await height(page);

		await page.click(".filters .columns");
		await page.locator("input[name=density][value=compact]").check(
		    {force: true});
		await page.keyboard.press("Escape");
		await page.waitForFunction((was) => document.querySelector(
		    '.ag-row[row-index="1"]').getBoundingClientRect().height <
		    was, usual);
		await day.shot("dense");
		const low = await height(page);

		await page.reload();
		await rowsDrawn(page);
		assert.equal(await height(page), low);
		await page.evaluate(() => localStorage.removeItem("grid.density"));
		await page.reload();
		await rowsDrawn(page);
		assert.equal(await height(page), usual);
		assert.deepEqual(page.problems.map(String), []);
	});
	await page.context().close();
}
