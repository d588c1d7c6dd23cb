/*
 * odd: what a stranger does to the page: scrolls and then filters, keeps
 * nonsense in the browser, has labels that never end, holds a key down.
 */
import assert from "node:assert/strict";
import {another, cell, chooseSupplier, codeAt, grid, logIn, open, openPage,
    product, rowsDrawn, ROWS, SUPPLIER, tick, totalIs} from "./kit.mjs";

const topRow = (page) => page.evaluate(() => Math.min(...[
    ...document.querySelectorAll(".ag-row")]
    .filter((row) => row.getBoundingClientRect().top >= document
	.querySelector(".ag-header").getBoundingClientRect().bottom - 4)
    .map((row) => Number(row.getAttribute("row-index")))));

const scrollTo = (page, row) => page.evaluate((index) =>
    productGrid.grid.ensureIndexVisible(index, "top"), row);

async function rowSeen(page, row) {
	await page.waitForSelector(
	    `.ag-row[row-index="${row}"]:not(.row-waits) .words`);
}

async function places(day, page) {
	await day.check("other rows are shown from the first one on",
	    async () => {
		const far = ROWS >> 1;

		await scrollTo(page, far);
		await rowSeen(page, far);
		await page.fill(".search-box input", "chocolat");
		const {pagination} = await grid("search=chocolat&limit=1");

		await totalIs(page, pagination.total);
		await rowsDrawn(page);
		assert.equal(await topRow(page), 0);
		await page.keyboard.press("Enter");
		assert.equal(await page.evaluate(() => document.activeElement
		    .closest(".ag-row")?.getAttribute("row-index")), "0");
		await page.fill(".search-box input", "");
		await totalIs(page, ROWS);
		await scrollTo(page, far);
		await rowSeen(page, far);
		await page.click(".ag-header-cell[col-id=totalQuantite] " +
		    ".ag-header-cell-label");
		await rowSeen(page, 0);
		assert.equal(await topRow(page), 0);
	});
	await day.check("other columns are shown for the rows in sight",
	    async () => {
		const far = ROWS >> 1;

		await scrollTo(page, far);
		await rowSeen(page, far);
		await page.click(".filters .columns");
		await page.click(".picker [data-name=marque] label");
		await page.keyboard.press("Escape");
		await rowSeen(page, far);
		assert.ok(Math.abs(await topRow(page) - far) <= 1);
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("marque"));
		await page.waitForSelector(".cell-waits", {state: "detached"});
		const text = await cell(page, far, "marque").textContent();
		const {marque} = await product(await codeAt(page, far));

		assert.equal(text, marque ?? "");
	});
}

async function pasted(day, page) {
	await day.check("what is pasted out of a table is searched for",
	    async () => {
		const {pagination} = await grid("search=chocolat+noir&limit=1");

		await page.fill(".search-box input", "chocolat\tnoir\t");
		await totalIs(page, pagination.total);
		await page.fill(".search-box input", "");
		await totalIs(page, ROWS);
	});
}

const PLACES = ["columns", `drafts.claire.${SUPPLIER}`, "supplier", "theme"];
const NONSENSE = ['{"a":1}', '[1,null,{"name":"toString"}]',
	'[["1"],["2",null],["3",{"gamme":"Q"}]]', "not json"];

async function kept(day, browser) {
	await day.check("nonsense kept in the browser is passed over",
	    async () => {
		const page = day.page = await openPage(browser);

		await logIn(page);
		await chooseSupplier(page, SUPPLIER);
		for (const text of NONSENSE) {
			await page.evaluate(([names, value]) => {
				for (const name of names)
					localStorage[`grid.${name}`] = value;
				localStorage["grid.supplier"] = '"12345"';
			}, [PLACES, text]);
			await page.reload();
			await rowsDrawn(page);
			await totalIs(page, ROWS);
		}
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
	await day.check("a browser that keeps nothing is told once, in words",
	    async () => {
		const page = day.page = await openPage(browser);

		await page.addInitScript(() => Object.defineProperty(window,
		    "localStorage", {get() {
			throw new DOMException("blocked", "SecurityError");
		}}));
		await page.reload();
		await logIn(page);
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		for (const row of [1, 2]) {
			const {codeGamme} = await product(
			    await codeAt(page, row));

			await cell(page, row, "libelle1").click();
			await page.keyboard.press(another(codeGamme));
		}
		await page.waitForSelector(".notice.error");
		assert.equal(await page.locator(".notice.error").count(), 1);
		assert.match(await page.textContent(".notice.error"),
		    /ne garde pas vos modifications/);
		const question = page.waitForEvent("dialog");

		await page.close({runBeforeUnload: true});
		const dialog = await question;

		assert.equal(dialog.type(), "beforeunload");
		await dialog.accept();
		await page.context().close();
	});
}

/* An answer with some of its words changed on the way. */
async function altered(page, path, change) {
	await page.route(path, async (route) => {
		const response = await route.fetch();
		const json = await response.json();

		change(json);
		await route.fulfill({response, json});
	});
}

const LONG = "Très long libellé ".repeat(20) + "x".repeat(200);

async function lengths(day, browser) {
	await day.check("labels without end stay within the window",
	    async () => {
		const page = day.page = await openPage(browser);
		const longer = (name) => ({data}) => {
			for (const one of Array.isArray(data) ? data : [data])
				one[name] = LONG;
		};

		await altered(page, "**/api/v1/grid?*", longer("libelle1"));
		await altered(page, "**/api/v1/products/*", longer("libelle1"));
		await altered(page, "**/api/v1/fournisseurs?*", longer("nom"));
		await altered(page, "**/api/v1/nomenclatures?*",
		    longer("libelle"));
		await logIn(page);
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		await cell(page, 1, "libelle1").dblclick();
		await page.waitForSelector(".panel .plot canvas");
		await day.shot("long-labels");
		const outside = await page.evaluate(() => [...document
		    .querySelectorAll(".top button, .foot button, .panel-tools " +
			"button, .supplier .code, .filters button, .codes b")]
		    .filter((one) => one.offsetParent !== null &&
			(one.getBoundingClientRect().right > innerWidth ||
			one.getBoundingClientRect().width === 0))
		    .map((one) => one.outerHTML.slice(0, 80)));

		assert.deepEqual(outside, []);
		assert.ok(await page.isVisible(".supplier .code"));
		await page.context().close();
	});
}

const WITHOUT_ARTICLE = "90909";

async function columnsGone(day, browser) {
	await day.check("a column that the API has no more is left out",
	    async () => {
		const page = day.page = await openPage(browser);

		await altered(page, "**/api/v1/openapi.json", (spec) => {
			delete spec.components.schemas.Product.properties
			    .tauxMarge;
		});
		await page.reload();
		await logIn(page);
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		assert.equal(await page.locator(
		    ".ag-header-cell[col-id=tauxMarge]").count(), 0);
		assert.equal(await page.locator(
		    ".ag-header-cell[col-id=totalCa]").count(), 1);
		await page.context().close();
	});
	await day.check("a supplier without articles says so, and how to go on",
	    async () => {
		const page = day.page = await openPage(browser);

		await logIn(page);
		await chooseSupplier(page, WITHOUT_ARTICLE);
		await page.waitForFunction(() => /aucun article/.test(
		    document.querySelector(".rows-state").textContent));
		assert.doesNotMatch(await page.textContent(".rows-state"),
		    /supplier|fournisseurs lists/);
		await day.axe("supplier-empty");
		await page.click(".rows-state button");
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
		await page.context().close();
	});
}

/* Keys that are held, and hands that click twice. */
async function hands(day, page) {
	await scrollTo(page, 0);
	await rowSeen(page, 3);
	await day.check("Enter held on Save asks, and saves nothing by itself",
	    async () => {
		const codein = await codeAt(page, 3);
		const {codeGamme} = await product(codein);

		await cell(page, 3, "libelle1").click();
		await page.keyboard.press(another(codeGamme));
		await page.focus(".foot .primary");
		for (let i = 0; i < 5; i++)
			await page.keyboard.down("Enter");
		await page.keyboard.up("Enter");
		await page.waitForSelector("dialog[open]");
		assert.equal(await page.locator("dialog[open]").count(), 1);
		assert.equal((await product(codein)).codeGamme, codeGamme);
		await page.locator("dialog footer .primary").dblclick();
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal((await product(codein)).codeGamme,
		    another(codeGamme));
		/* The second click went to a row behind the window. */
		assert.ok(await page.isHidden(".panel"));
	});
	await day.check("rows are chosen by the mouse, by Shift and by Space",
	    async () => {
		const chosen = (count) => page.waitForFunction((n) =>
		    productGrid.chosen().length === n &&
		    document.querySelectorAll("input.tick:checked").length ===
			n, count);

		await tick(page, 1);
		await chosen(1);
		await page.locator('.ag-row[row-index="5"] input.tick')
		    .click({modifiers: ["Shift"]});
		await chosen(5);
		await page.keyboard.press("Space");
		await chosen(4);
		await page.keyboard.press("Space");
		await chosen(5);
		await page.locator('.ag-row[row-index="6"] input.tick').dblclick();
		await chosen(5);
		assert.ok(await page.isHidden(".panel"));
		await cell(page, 7, "libelle1").click();
		await page.keyboard.press("Space");
		await chosen(6);
		await page.keyboard.press("Space");
		await chosen(5);
		await page.click(".foot .counts button.link");
		await chosen(0);
	});
	await day.check("Tab leaves the grid, Shift+Tab goes to the column's head",
	    async () => {
		const at = () => page.evaluate(() => {
			const one = document.activeElement;

			return one.closest(".ag-header-cell")?.getAttribute(
			    "col-id") ?? (one.closest(".ag-row") === null ?
			    one.tagName : one.getAttribute("col-id"));
		});

		if (await page.isVisible(".panel"))
			await page.click(".panel-tools button:last-child");
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("codeGamme"));
		const {codeGamme} = await product(await codeAt(page, 3));

		await cell(page, 3, "codeGamme").click();
		await page.keyboard.press(another(codeGamme));
		await page.keyboard.press("Tab");
		assert.equal(await at(), "BUTTON");
		await page.keyboard.press("Shift+Tab");
		assert.equal(await at(), "codeGamme");
		await page.waitForTimeout(200);
		assert.equal(await topRow(page), 0);
		await page.keyboard.press("Delete");
		await page.keyboard.press("Shift+Tab");
		assert.equal(await at(), "codeGamme");
		await page.keyboard.press("Enter");
		await page.waitForSelector(
		    ".ag-header-cell[col-id=codeGamme][aria-sort=ascending]");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Enter");
		await page.waitForSelector(
		    ".ag-header-cell[col-id=codeGamme][aria-sort=none]");
		await rowsDrawn(page);
	});
	await day.check("an article is asked for once, however it is opened",
	    async () => {
		let asked = 0;
		const note = (request) => {
			asked += /products\/\d+\?/.test(request.url());
		};

		page.on("request", note);
		await cell(page, 5, "libelle1").dblclick();
		await page.waitForSelector(".panel .plot canvas");
		await page.waitForTimeout(300);
		page.off("request", note);
		assert.equal(asked, 1);
		await page.keyboard.press("Escape");
	});
}

export async function odd(day, browser) {
	const page = day.page = await open(browser);

	await places(day, page);
	await hands(day, page);
	await pasted(day, page);
	assert.deepEqual(page.problems, []);
	await page.context().close();
	await kept(day, browser);
	await lengths(day, browser);
	await columnsGone(day, browser);
}
