/* choices: the page's language, frozen columns, and values with their counts. */
import assert from "node:assert/strict";
import {api, cell, grid, open, rowsDrawn, SUPPLIER, totalIs} from "./kit.mjs";

const brands = async (query = "") => (await api("GET",
    `/api/v1/grid/aggregates?fournisseur=${SUPPLIER}&groups=marque` +
    `&values=totalCa&limit=100000${query}`)).json.data
    .filter(({marque}) => marque !== null);

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

const plain = (text) => text.replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1");

const pinnedNames = (page) => page.evaluate(() => productGrid.grid
    .getColumnState().filter(({pinned}) => pinned === "left")
    .map(({colId}) => colId).filter((name) => !name.startsWith("ag-")));

/* A brand's name has quotes of its own: JSON's are those of a selector. */
const brandBox = (page, brand) => page.locator(
    `.values label:has(input[value=${JSON.stringify(brand)}])`);

const head = (page, name) =>
    page.locator(`.ag-header-cell[col-id="${name}"]`);

async function values(day, page) {
	await day.check("brands are a list with the number of articles of each",
	    async () => {
		const all = await brands("&gamme=B");

		await page.click(".choice label:has(input[value=B])");
		await totalIs(page, await countOf("gamme=B"));
		await page.click(".filters button.quiet");
		await page.selectOption("#filter-column", "marque");
		await page.waitForSelector(".values li");
		assert.equal(await page.inputValue("#filter-operator"), "list");
		assert.deepEqual((await page.locator(".values li")
		    .allTextContents()).map(plain), all.slice(0, 200)
		    .map(({marque, articles}) => `${marque}${articles}`));
		await page.fill(".value-list input[type=search]",
		    all[1].marque.toUpperCase());
		await brandBox(page, all[1].marque).click();
		await page.fill(".value-list input[type=search]", "");
		await brandBox(page, all[0].marque).click();
		await day.axe("value-list");
		await page.click(".filter-form .primary");
		await totalIs(page, all[0].articles + all[1].articles);
	});
	await day.check("a head tells of its filter, which opens as it was set",
	    async () => {
		const all = await brands("&gamme=B");

		await page.click(".filters .columns");
		await page.click(".picker [data-name=marque] label");
		await page.keyboard.press("Escape");
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("marque"));
		await head(page, "marque").locator(".funnel.on").click();
		await page.waitForSelector(".values li");
		assert.deepEqual(await page.locator(".values input:checked")
		    .evaluateAll((boxes) => boxes.map((one) => one.value)),
		[all[0].marque, all[1].marque]);
		await brandBox(page, all[1].marque).click();
		await page.click(".filter-form .primary");
		await totalIs(page, all[0].articles);
		assert.equal(await page.locator(".chips li").count(), 1);
		await page.locator(".chips button").click();
		await totalIs(page, await countOf("gamme=B"));
		assert.equal(await page.locator(".funnel.on").count(), 0);
		await page.click(".choice label:has(input[name=gamme][value=''])");
	});
	await day.check("L filters on the cursor's column", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("l");
		await page.waitForSelector(".filter-form");
		assert.equal(await page.inputValue("#filter-column"), "libelle1");
		await page.keyboard.press("Escape");
	});
}

async function freezing(day, page) {
	await day.check("columns are frozen and freed, and stay so", async () => {
		assert.deepEqual(await pinnedNames(page), ["codein", "libelle1"]);
		await page.click(".filters .columns");
		await page.locator("[data-name=totalCa] .pin").click();
		await page.locator("[data-name=codein] .pin").click();
		await day.axe("frozen");
		await page.keyboard.press("Escape");
		assert.deepEqual(await pinnedNames(page),
		    ["libelle1", "totalCa"]);
		await page.reload();
		await rowsDrawn(page);
		assert.deepEqual(await pinnedNames(page),
		    ["libelle1", "totalCa"]);
		await page.click(".filters .columns");
		await page.locator("dialog footer button").click();
		await page.keyboard.press("Escape");
		assert.deepEqual(await pinnedNames(page), ["codein", "libelle1"]);
	});
}

async function speaking(day, page) {
	const heading = () => page.locator(".filters button.quiet").first()
	    .textContent();
	const choose = async (value) => {
		await page.click("header.top button.user");
		await Promise.all([page.waitForEvent("load"),
		    page.click(`.language label:has(input[value="${value}"])`)]);
		await rowsDrawn(page);
	};

	await day.check("the page speaks the language that one chooses",
	    async () => {
		assert.equal(await heading(), "Filtrer");
		await choose("en");
		assert.equal(await heading(), "Filter");
		assert.equal(await page.evaluate(() =>
		    document.documentElement.lang), "en");
		await choose("");
		assert.equal(await heading(), "Filtrer");
	});
}

export async function choices(day, browser) {
	const page = day.page = await open(browser,
	    {viewport: {width: 1440, height: 900}});

	await values(day, page);
	await freezing(day, page);
	await speaking(day, page);
	await day.check("and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
