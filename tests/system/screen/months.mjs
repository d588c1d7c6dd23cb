/*
 * months: a column a month, periods compared, also with the year before, and
 * the sums below the rows.
 */
import assert from "node:assert/strict";
import {api, cell, codeAt, grid, open, product, rowsDrawn, SUPPLIER, totalIs}
    from "./kit.mjs";

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

/* --- year on year ----------------------------------------------------------- */

const YEAR = ["totalCaN1", "evolutionCaN1", "totalQuantiteN1", "evolutionQteN1"];

const aggregates = async (query) => (await api("GET",
    `/api/v1/grid/aggregates?fournisseur=${SUPPLIER}&${query}`)).json;

const changeOf = (now, before) => (now - before) / before;
const percent = (value) => Math.round(value * 100);

/* A year before: "202410" for "202510". */
const yearAgo = (key) => String(Number(key) - 100);

const sumBefore = (rows, keys) => rows.reduce((all, {sales12mN1}) => all +
    keys.reduce((some, key) => some + (sales12mN1[yearAgo(key)] ?? 0), 0), 0);

/* The "N-1" that ends a name is in one line. */
async function isWhole(page, selector) {
	const lines = await page.locator(selector).filter({hasText: /N-1$/})
	    .evaluateAll((nodes) => nodes.map((node) => {
		const end = document.createRange();
		let text = node;

		while (text.lastChild !== null)
			text = text.lastChild;
		end.setStart(text, text.length - "N-1".length);
		end.setEnd(text, text.length);
		return end.getClientRects().length;
	    }));

	assert.ok(lines.length > 1);
	assert.deepEqual(lines, lines.map(() => 1), selector);
}

/* Sums in sight are not cut, and do not run into one another. */
async function sumsAreWhole(page) {
	const sums = await page.locator('.ag-row[row-index="b-0"] .right')
	    .evaluateAll((cells) => cells.filter(({textContent}) =>
		textContent.trim() !== "").map((cell) => {
		const text = document.createRange();

		text.selectNodeContents(cell);
		const {left, right} = text.getBoundingClientRect();
		const {contain, overflowX} = getComputedStyle(cell);

		return {left, right, text: cell.textContent,
		    cut: (contain !== "none" || overflowX !== "visible") &&
			(cell.scrollWidth > cell.clientWidth ||
			    left < cell.getBoundingClientRect().left)};
	    }).sort((a, b) => a.left - b.left));

	assert.ok(sums.length > 1);
	for (const [i, {left, text, cut}] of sums.entries()) {
		assert.ok(!cut, `${text} is cut`);
		assert.ok(i === 0 || left > sums[i - 1].right,
		    `${text} runs into the sum before`);
	}
}

async function yearColumns(day, page, all) {
	await day.check("turnover and quantity stand beside the year before's",
	    async () => {
		const {totaux} = (await aggregates("limit=1&" +
		    `values=totalCa,totalQuantite,${YEAR.join(",")}`)).meta;

		assert.ok(totaux.totalCaN1.sum > 0);
		await pick(page, 6);
		await show(page, "evolutionQteN1");
		const first = await product(await codeAt(page, 0));

		for (const name of YEAR) {
			const shown = {totalCaN1: Math.round,
			    totalQuantiteN1: tenth}[name] ?? percent;

			await show(page, name);
			await seen(page, row0(name), shown(first[name]));
		}
		await seen(page, total("totalCaN1"),
		    Math.round(totaux.totalCaN1.sum));
		await seen(page, total("evolutionCaN1"), percent(
		    changeOf(totaux.totalCa.sum, totaux.totalCaN1.sum)));
		await seen(page, total("evolutionQteN1"), percent(changeOf(
		    totaux.totalQuantite.sum, totaux.totalQuantiteN1.sum)));
		assert.match(await page.textContent(".totals"),
		    /CA .+, [+−-][\d,]+\s%\sN\/N-1/u);
		await isWhole(page, ".ag-header-cell .head > :first-child");
		await sumsAreWhole(page);
		await day.axe("year");
		await day.shot("year-on-year");
	});
	await day.check("the change sorts and filters; who has none comes last",
	    async () => {
		const least = await asked("sort=evolutionCaN1&order=asc");
		const fell = await asked("sort=evolutionCaN1&order=asc&" +
		    "evolutionCaN1=lte.-0.2");
		const head = `.ag-header-cell[col-id="evolutionCaN1"] `;

		assert.ok(all.some(({totalCaN1}) => totalCaN1 === null));
		await show(page, "evolutionCaN1");
		await page.click(head + ".ag-header-cell-label");
		await page.click(head + ".ag-header-cell-label");
		await firstRowsAre(page, least.codes);
		await show(page, "evolutionCaN1");
		await page.locator(head + ".funnel").dispatchEvent("click");
		await page.waitForSelector(".filter-form");
		await page.selectOption(".filter-form #filter-operator", "lte");
		await page.fill("#filter-value", "-20");
		await page.click(".filter-form .primary");
		await totalIs(page, fell.count);
		await firstRowsAre(page, fell.codes);
		await page.locator(".chips button").last().click();
		await totalIs(page, all.length);
		await show(page, "totalCa");
		await page.locator(`.ag-header-cell[col-id="totalCa"] ` +
		    ".ag-header-cell-label").click();
		await rowsDrawn(page);
	});
}

async function yearSpans(day, page, all) {
	const keys = monthsOf(all, 0, 3);

	await day.check("three months stand beside the same a year before",
	    async () => {
		await pick(page, 6);
		await pick(page, 9);
		await show(page, "sales12m-onyear3");
		const {sales12m, sales12mN1} = await product(await codeAt(page, 0));
		const now = sum([{sales12m}], keys);
		const before = sumBefore([{sales12mN1}], keys);

		await seen(page, row0("sales12m-year3"), tenth(before));
		await seen(page, row0("sales12m-last3"), tenth(now));
		await seen(page, row0("sales12m-onyear3"),
		    percent(changeOf(now, before)));
		await seen(page, total("sales12m-year3"),
		    tenth(sumBefore(all, keys)));
		await seen(page, total("sales12m-onyear3"),
		    percent(changeOf(sum(all, keys), sumBefore(all, keys))));
		await day.shot("year-months");
	});
	await day.check("a month of the year before sorts as the API does",
	    async () => {
		const key = yearAgo(monthsOf(all, 0, 1)[0]);
		const most = await asked(`sort=sales12mN1.${key}`);

		await pick(page, 9);
		await pick(page, 7);
		await show(page, "sales12mN1-0");
		assert.match(await page.textContent(
		    `.ag-header-cell[col-id="sales12mN1-0"]`),
		new RegExp(`Ventes \\p{L}+\\.?\\s${key.slice(2, 4)}`, "u"));
		await page.click(`.ag-header-cell[col-id="sales12mN1-0"] ` +
		    ".ag-header-cell-label");
		await firstRowsAre(page, most.codes);
		await seen(page, total("sales12mN1-0"), tenth(all.reduce(
		    (some, {sales12mN1}) => some + (sales12mN1[key] ?? 0), 0)));
		await pick(page, 7);
		await page.evaluate(() => localStorage.removeItem("grid.columns"));
	});
}

async function yearElsewhere(day, page) {
	await day.check("the article draws the year before, and has its figures",
	    async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		const row = await product(await codeAt(page, 0));
		const months = Object.keys(row.stock12m).sort();
		const chart = page.locator(".panel .figures").first();
		const found = await chart.locator("tbody tr").evaluateAll((lines) =>
		    lines.map((line) => line.cells[2].textContent));

		assert.match(await page.locator(".panel .legend").first()
		    .textContent(), /Ventes N-1/);
		assert.deepEqual(found.map((text) => Number(text.replace(
		    /[^\d,]/g, "").replace(",", "."))), months.map((key) =>
		    tenth(row.sales12mN1[yearAgo(key)] ?? 0)));
		await isWhole(page, ".panel .key dt");
		await day.shot("year-article");
		await page.keyboard.press("Escape");
		await page.waitForSelector(".panel", {state: "hidden"});
	});
	await day.check("subtotals and the line by month compare with it",
	    async () => {
		const {data} = await aggregates(
		    "groups=codeGamme&values=totalCa,totalCaN1");
		const points = new Intl.NumberFormat("fr-FR", {style: "percent",
		    minimumFractionDigits: 1, maximumFractionDigits: 1,
		    signDisplay: "exceptZero"});

		await page.keyboard.press("g");
		await page.waitForSelector("dialog .sum-table");
		await page.locator("input[name=sum-by][value=range]")
		    .check({force: true});
		await page.waitForFunction((count) => document.querySelectorAll(
		    ".sum-table tbody .on-year").length === count, data.length);
		assert.deepEqual(await page.locator(".sum-table tbody .on-year")
		    .allTextContents(), data.map(({valeurs}) => points.format(
		    changeOf(valeurs.totalCa.sum, valeurs.totalCaN1.sum))
		    .replace("-", "\u2212")));
		await day.shot("year-subtotals");
		await page.locator("input[name=sum-by][value=month]")
		    .check({force: true});
		await page.waitForSelector(".month-line .before");
		assert.equal((await page.getAttribute(".month-line .before", "d"))
		    .match(/[ML]/g).length, 12);
		assert.equal(await page.locator(".sum-table tbody .on-year")
		    .count(), 12);
		await day.axe("year-line");
		await day.shot("year-line");
		await page.keyboard.press("Escape");
		assert.deepEqual(page.problems, []);
	});
}

async function yearInEnglish(day, browser) {
	await day.check("English heads of the year before are not cut", async () => {
		const page = day.page = await open(browser, {locale: "en-GB",
		    viewport: {width: 1440, height: 900}});

		await pick(page, 6);
		await show(page, "evolutionQteN1");
		await page.waitForSelector(
		    '.ag-header-cell[col-id="evolutionQteN1"] .head');
		assert.deepEqual(await page.locator(".ag-header-cell:has(.head)")
		    .evaluateAll((heads) => heads.filter((head) =>
			head.querySelector(".head").firstChild
			    .getBoundingClientRect().height >
			    head.clientHeight).map((head) => head.textContent)),
		[]);
		await page.evaluate(() => localStorage.removeItem("grid.columns"));
		await page.context().close();
	});
}

export async function yearOnYear(day, browser) {
	await yearInEnglish(day, browser);
	const page = day.page = await open(browser,
	    {viewport: {width: 1440, height: 900}});
	const all = (await grid(
	    "fields=sales12m,sales12mN1,totalCaN1&limit=100000")).data;

	await yearColumns(day, page, all);
	await yearSpans(day, page, all);
	await yearElsewhere(day, page);
	await page.context().close();
}
