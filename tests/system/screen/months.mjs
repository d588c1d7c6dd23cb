/* months: a column a month, periods compared, and the sums below the rows. */
import assert from "node:assert/strict";
import {cell, codeAt, grid, open, product, rowsDrawn, totalIs} from "./kit.mjs";

const LAST = "sales12m-0";

const pick = async (page, nth) => {
	await page.click(".filters .columns");
	await page.locator(".months input").nth(nth).click();
	await page.keyboard.press("Escape");
	await rowsDrawn(page);
};

async function seen(page, selector, wanted) {
	await page.waitForFunction(([where, value]) => {
		const text = document.querySelector(where)?.textContent;

		return text && Number(text.replace(/[^\d,.−-]/g, "")
		    .replace("−", "-").replace(",", ".")) === value;
	}, [selector, wanted]);
}

const show = (page, name) => page.evaluate((one) =>
    productGrid.grid.ensureColumnVisible(one), name);

const total = (name) => `.ag-row[row-index="b-0"] .ag-cell[col-id="${name}"]`;
const row0 = (name) => `.ag-row[row-index="0"] .ag-cell[col-id="${name}"]`;

/* A figure as the page rounds it. */
const tenth = (value) => Number(value.toFixed(1));

/* The last `count` of the twelve months, `back` months ago. */
function monthsOf(rows, back, count) {
	const keys = [...new Set(rows.flatMap(({sales12m}) =>
	    Object.keys(sales12m)))].sort();
	const newest = keys.at(-1);
	const at = Number(newest.slice(0, 4)) * 12 + Number(newest.slice(4)) - 1;

	return Array.from({length: count}, (_, i) => {
		const month = at - back - i;

		return `${Math.floor(month / 12)}${
		    String(month % 12 + 1).padStart(2, "0")}`;
	});
}

const sum = (rows, keys) => rows.reduce((all, {sales12m}) => all +
    keys.reduce((some, key) => some + (sales12m[key] ?? 0), 0), 0);

/* The rows that the page shows first have these codes. */
const firstRowsAre = (page, codes) => page.waitForFunction((wanted) =>
    wanted.every((code, row) => document.querySelector(
	`.ag-row[row-index="${row}"]:not(.row-waits) [col-id=codein]`)
	?.textContent === code), codes);

/* What the API has, by its own name of the month. */
const asked = async (query) => {
	const {data, pagination} = await grid(`${query}&fields=codein&limit=5`);

	return {codes: data.map(({codein}) => codein), count: pagination.total};
};

async function questions(day, page, all) {
	const [newest] = monthsOf(all, 0, 1), [before] = monthsOf(all, 1, 1);
	const month = `sales12m.${newest}`;

	await day.check("a month's head sorts, and filters, as the API does",
	    async () => {
		const head = page.locator(
		    `.ag-header-cell[col-id="${LAST}"] .ag-header-cell-label`);
		const largest = await asked(`sort=${month}`);
		const some = await asked(`sort=${month}&order=asc&${month}=gte.20`);

		await show(page, LAST);
		await head.click();
		await firstRowsAre(page, largest.codes);
		await head.click();
		await page.locator(`.ag-header-cell[col-id="${LAST}"] .funnel`)
		    .dispatchEvent("click");
		await page.waitForSelector(".filter-form");
		await page.fill("#filter-value", "20");
		await page.click(".filter-form .primary");
		await totalIs(page, some.count);
		await firstRowsAre(page, some.codes);
		assert.match(await page.textContent(".chips .words"),
		    /^Ventes \p{L}+\.?\s\d\d ≥ 20$/u);
		await day.shot("month-filtered");
	});
	await day.check("a link to it shows the same, before any row has come",
	    async () => {
		const some = await asked(`sort=${month}&order=asc&${month}=gte.20`);

		await page.reload();
		await rowsDrawn(page);
		await totalIs(page, some.count);
		await firstRowsAre(page, some.codes);
		await page.click(".filters .summary, .filters .chart, " +
		    ".filters .tools button:nth-child(2)");
		await page.click("dialog .choice label:has(input[value=month])");
		await page.locator("dialog tbody button").nth(10).click();
		const both = await asked(`${month}=gte.20&` +
		    `sales12m.${before}=gt.0`);

		await totalIs(page, both.count);
		for (const left of [1, 0]) {
			await page.locator(".chips button").last().click();
			await page.waitForFunction((n) => document
			    .querySelectorAll(".chips li").length === n, left);
		}
		await totalIs(page, all.length);
		await page.locator(`.ag-header-cell[col-id="totalCa"] ` +
		    ".ag-header-cell-label").click();
		await rowsDrawn(page);
	});
}

export async function months(day, browser) {
	const page = day.page = await open(browser,
	    {viewport: {width: 1440, height: 900}});
	const all = (await grid("fields=sales12m&limit=100000")).data;

	await day.check("a column a month, with their sums below the rows",
	    async () => {
		assert.equal(await page.locator(total(LAST)).count(), 0);
		await pick(page, 0);
		await show(page, LAST);
		const first = await product(await codeAt(page, 0));

		for (const back of [0, 1]) {
			const [key] = monthsOf(all, back, 1);

			await show(page, `sales12m-${back}`);
			await seen(page, row0(`sales12m-${back}`),
			    tenth(first.sales12m[key] ?? 0));
			await seen(page, total(`sales12m-${back}`),
			    tenth(sum(all, [key])));
		}
		const heads = await page.evaluate(() => productGrid.grid
		    .getColumnState().map(({colId}) => colId)
		    .filter((name) => name.startsWith("sales12m-")));

		assert.equal(heads.length, 12);
		assert.equal(heads.at(-1), LAST);
		assert.match(await page.textContent(
		    `.ag-header-cell[col-id="${LAST}"]`), /Ventes \p{L}+\.?\s\d\d/u);
		await day.axe("months");
	});
	await questions(day, page, all);
	await day.check("the sums are those of the rows that filters leave",
	    async () => {
		const some = (await grid("gamme=B&fields=sales12m&limit=100000"))
		    .data;

		await page.click(".choice label:has(input[name=gamme][value='B'])");
		await totalIs(page, some.length);
		await show(page, LAST);
		await seen(page, total(LAST), tenth(sum(some,
		    monthsOf(all, 0, 1))));
		await page.click(".choice label:has(input[name=gamme][value=''])");
		await totalIs(page, all.length);
	});
	await day.check("three months are compared with the three before",
	    async () => {
		await pick(page, 0);
		await pick(page, 4);
		await show(page, "sales12m-change3");
		const {sales12m} = await product(await codeAt(page, 0));
		const last = sum([{sales12m}], monthsOf(all, 0, 3));
		const before = sum([{sales12m}], monthsOf(all, 3, 3));

		await seen(page, row0("sales12m-last3"), tenth(last));
		await seen(page, row0("sales12m-before3"), tenth(before));
		await seen(page, row0("sales12m-change3"),
		    Math.round((last - before) / before * 100));
		await seen(page, total("sales12m-before3"),
		    tenth(sum(all, monthsOf(all, 3, 3))));
		await day.shot("months-compared");
		await page.reload();
		await rowsDrawn(page);
		await show(page, "sales12m-last3");
		await seen(page, row0("sales12m-last3"), tenth(last));
	});
	await day.check("a month is copied, and a block of months summed",
	    async () => {
		await show(page, "sales12m-last3");
		await cell(page, 0, "sales12m-before3").click();
		await page.keyboard.press("Shift+ArrowDown");
		await page.waitForFunction(() => /somme/.test(
		    document.querySelector(".sums").textContent));
		/* The cursor stays among the articles. */
		await page.keyboard.press("Control+ArrowDown");
		await page.keyboard.press("ArrowDown");
		assert.equal(await page.evaluate(() => productGrid.grid
		    .getFocusedCell().rowPinned ?? null), null);
		await page.evaluate(() => localStorage.removeItem("grid.columns"));
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
