/* columns: filters on columns, as chips, in the address, with all else. */
import assert from "node:assert/strict";
import {cell, grid, open, ROWS, rowsDrawn, tick, totalIs} from "./kit.mjs";

const chips = (page) => page.locator(".chips li");

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

async function addFilter(page, column, operator, value) {
	await page.click(".filters button.quiet");
	await page.selectOption("#filter-column", column);
	await page.selectOption("#filter-operator", operator);
	if (value !== null)
		await page.fill("#filter-value", value);
	await page.click(".filter-form .primary");
}

export async function columns(day, browser) {
	const page = day.page = await open(browser);
	const out = "stockActuel=lte.0&totalQuantite=gt.0";

	await day.check("a question of each day takes two clicks", async () => {
		await page.click(".filters button:has-text('Filtrer')");
		await day.axe("filter");
		await page.click(".ready button >> nth=1");
		await totalIs(page, await countOf(out));
		assert.equal(await chips(page).count(), 2);
		assert.match(await chips(page).nth(1).textContent(),
		    /Quantité > 0/);
	});
	await day.check("filters are in the address, and F5 keeps them",
	    async () => {
		await page.reload();
		await rowsDrawn(page);
		await totalIs(page, await countOf(out));
		assert.equal(await chips(page).count(), 2);
		await chips(page).first().locator("button").click();
		await totalIs(page, await countOf("totalQuantite=gt.0"));
		await page.goBack();
		await totalIs(page, await countOf(out));
		await page.click(".chips li >> nth=0 >> button");
		await page.click(".chips li >> nth=0 >> button");
		await totalIs(page, ROWS);
	});
	await day.check("a column that is added comes into sight", async () => {
		const box = ".picker [data-name=nomFournisseur] input";
		const head = ".ag-header-cell[col-id=nomFournisseur]";

		await page.click(".filters .columns");
		await page.locator(box).check();
		await page.keyboard.press("Escape");
		await page.waitForFunction((selector) => {
			const {left, right} = document.querySelector(selector)
			    .getBoundingClientRect();

			return left > 0 && right <= innerWidth;
		}, head);
		await page.click(".filters .columns");
		await page.locator(box).uncheck();
		await page.keyboard.press("Escape");
		await page.waitForSelector(head, {state: "detached"});
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("codeGamme"));
	});
	await day.check("the foot's turnover is of the rows that are shown",
	    async () => {
		const money = new Intl.NumberFormat("fr-FR", {style: "currency",
		    currency: "EUR", notation: "compact",
		    maximumFractionDigits: 1});
		const isSum = async (query) => {
			const {data} = await grid(`${query}&fields=totalCa`);
			const sum = data.reduce((all, {totalCa}) =>
			    all + totalCa, 0);

			await page.waitForFunction((text) => document
			    .querySelector(".totals").textContent
			    .includes(text), `CA ${money.format(sum)}`);
		};

		await isSum("");
		await page.click(".choice label:has(input[value=B])");
		await isSum("gamme=B");
		await addFilter(page, "libelle1", "contains", "creme");
		await isSum("gamme=B&libelle1=ilike.*creme*");
		await page.click(".chips button");
		await page.click(".choice label:has(input[value=''])");
		await isSum("");
	});
	await day.check("percent is typed as it is shown, and mistakes are told",
	    async () => {
		await page.click(".filters button:has-text('Filtrer')");
		await page.selectOption("#filter-column", "tauxMarge");
		await page.fill("#filter-value", "beaucoup");
		await page.keyboard.press("Enter");
		assert.match(await page.textContent(".filter-form .problem"),
		    /nombre/);
		await page.fill("#filter-value", "30,5");
		await page.keyboard.press("Enter");
		await totalIs(page, await countOf("tauxMarge=gte.0.305"));
		assert.match(await chips(page).textContent(), /30,5/);
		await page.click(".chips button");
		await totalIs(page, ROWS);
	});
	await day.check("marks of thousands are told from decimal ones",
	    async () => {
		const english = await open(browser, {locale: "en-GB"});
		const asked = async (one, typed, query) => {
			await addFilter(one, "totalCa", "gte", typed);
			await totalIs(one, await countOf(`totalCa=gte.${query}`));
			await one.click(".chips button");
			await totalIs(one, ROWS);
		};

		await asked(english, "1,000", "1000");
		await asked(english, "1,000.5", "1000.5");
		await asked(english, "0.5", "0.5");
		await asked(english, "0,125", "0.125");
		await english.context().close();
		await asked(page, "1\u202f000", "1000");
		await asked(page, "1.000,5", "1000.5");
		await page.click(".filters button:has-text('Filtrer')");
		await page.selectOption("#filter-column", "totalCa");
		await page.fill("#filter-value", "1.000");
		await page.keyboard.press("Enter");
		assert.match(await page.textContent(".filter-form .problem"),
		    /nombre/);
		await page.fill("#filter-value", "1000");
		await page.keyboard.press("Enter");
		await totalIs(page, await countOf("totalCa=gte.1000"));
		await page.click(".chips button");
		await totalIs(page, ROWS);
	});
	await day.check("codes pasted from a sheet are a filter", async () => {
		const {data} = await grid("limit=40&fields=libelle1");
		const codes = [3, 8, 21].map((at) => data[at].codein);

		/* The last two are of no article, and the list must stay one. */
		await addFilter(page, "codein", "list",
		    [...codes, 'un "deux"', "a\\b(c)"].join("\n"));
		await page.waitForSelector("#list-missing");
		await page.keyboard.press("Escape");
		await totalIs(page, 3);
		await tick(page, 0);
		await page.waitForSelector(".counts .link");
		await page.click(".counts .link");
		await page.click(".chips button");
		await totalIs(page, ROWS);
	});
	await day.check("the classes count what search and filters leave",
	    async () => {
		const counts = () => page.locator(".tree > li").evaluateAll(
		    (all) => Object.fromEntries(all.map((item) =>
			[item.dataset.code, Number(item.querySelector(".count")
			    .textContent.replace(/\D/g, ""))])));
		const expected = async (query) => {
			const all = Object.fromEntries(Object.keys(
			    await counts()).map((code) => [code, 0]));
			const {data} = await grid(`${query}&fields=code1`);

			for (const {code1} of data)
				if (code1 !== null)
					all[code1]++;
			return {...all, "": data.length};
		};
		const isSo = async (query) => {
			const right = await expected(query);

			await totalIs(page, right[""]);
			await page.waitForFunction((n) => Number(document
			    .querySelector(".tree .count").textContent
			    .replace(/\D/g, "")) === n, right[""]);
			assert.deepEqual(await counts(), right);
		};

		await page.fill(".search-box input", "beurre");
		await isSo("search=beurre");
		await addFilter(page, "stockActuel", "gte", "20");
		await isSo("search=beurre&stockActuel=gte.20");
		await page.locator(".tree > li:not(.empty):not([data-code=''])")
		    .first().locator(".line").first().click();
		await page.waitForFunction(() =>
		    location.hash.includes("nomenclature="));
		assert.deepEqual(await counts(),
		    await expected("search=beurre&stockActuel=gte.20"));
		await page.locator(".tree > li .line").first().click();
		await page.fill(".search-box input", "");
		await chips(page).first().locator("button").click();
		await isSo("limit=1000000");
	});
	await day.check("a label's filter folds accents, and an empty one says so",
	    async () => {
		await addFilter(page, "libelle1", "contains", "CREME");
		await totalIs(page, await countOf("libelle1=ilike.*creme*"));
		await addFilter(page, "libelle1", "begins", "zzzz");
		await page.waitForSelector(".rows-state:not([hidden]) button");
		await page.click(".rows-state button");
		await totalIs(page, ROWS);
		assert.equal(await chips(page).count(), 0);
	});
	await day.check("a head's right click filters its column", async () => {
		await page.click(".ag-header-cell[col-id=stockActuel]",
		    {button: "right"});
		await page.waitForSelector(".filter-form");
		assert.equal(await page.inputValue("#filter-column"),
		    "stockActuel");
		await page.keyboard.press("Escape");
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("l");
		await page.waitForSelector(".filter-form");
		await page.keyboard.press("Escape");
	});
	assert.deepEqual(page.problems, []);
	await page.context().close();
}
