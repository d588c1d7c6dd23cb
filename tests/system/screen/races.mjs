/*
 * races: answers that come late, in another order than they were asked for, or
 * not at all, while the buyer goes on.
 */
import assert from "node:assert/strict";
import {another, api, articleAt, cell, chooseSupplier, codeAt, firstRowIs, grid,
    hold, host, linesAre, lookAgain, open, product, propose, ROWS, rowsDrawn,
    saveRow, setRow, SUPPLIER, totalIs} from "./kit.mjs";
import {withoutPolls} from "./polls.mjs";

const GRID = "**/api/v1/grid?*", PRODUCT = "**/api/v1/products/*";

const fails = (status, code) => (route) => route.fulfill({status,
    contentType: "application/json", body: JSON.stringify(
	{error: {code, message: "It broke."}})});

const rangeAt = (page, row) => cell(page, row, "codeGamme")
    .locator(".gamme").first().textContent();

const counts = (page) => page.textContent(".foot .counts");

const gone = (page) => page.waitForSelector("dialog", {state: "detached"});

async function toTop(page) {
	await page.evaluate(() =>
	    productGrid.grid.ensureIndexVisible(0, "top"));
	await page.waitForSelector(
	    '.ag-row[row-index="4"]:not(.row-waits) .words');
}

async function saving(day, page) {
	await day.check("a saved range is seen at once, and no late row hides it",
	    async () => {
		const {codein, codeGamme, wanted} = await articleAt(page, 0);
		const next = another(codeGamme, wanted);
		const late = await hold(page, GRID);

		await propose(codein, wanted);
		await lookAgain(page);
		await page.waitForSelector(".proposal .badge");
		await late.holds(1);
		await saveRow(page, 0);
		await gone(page);
		assert.equal(await rangeAt(page, 0), wanted);
		assert.equal(await counts(page), "");
		await setRow(page, 0, next);
		await late.letGo();
		assert.equal(await rangeAt(page, 0), wanted);
		await saveRow(page, 0);
		await gone(page);
		assert.equal(await rangeAt(page, 0), next);
		assert.equal((await product(codein)).codeGamme, next);
	});
	await day.check("proposals that were asked for before a Save stay away",
	    async () => {
		const {codein, wanted} = await articleAt(page, 1);

		await propose(codein, wanted);
		await lookAgain(page);
		await page.waitForSelector(".proposal .badge");
		const saved = await hold(page, "**/app/save");
		await saveRow(page, 1);
		const late = await hold(page, "**/app/pending?*");

		await lookAgain(page);
		await late.holds(1);
		await saved.letGo();
		await gone(page);
		await late.letGo();
		assert.equal(await page.locator(".proposal").count(), 0);
		assert.equal(await counts(page), "");
		assert.equal(await rangeAt(page, 1), wanted);
	});
	await day.check("a Save that was done is told so, whatever fails after it",
	    async () => {
		const {codein, wanted} = await articleAt(page, 2);
		const broken = fails(500, "internal_error");

		await setRow(page, 2, wanted);
		await page.route("**/app/pending?*", broken);
		await saveRow(page, 2);
		await gone(page);
		assert.equal(await rangeAt(page, 2), wanted);
		assert.equal((await product(codein)).codeGamme, wanted);
		await lookAgain(page);
		await page.waitForSelector(".notice.error");
		await lookAgain(page);
		await page.waitForTimeout(200);
		assert.equal(await page.locator(".notice.error").count(), 1);
		await page.unroute("**/app/pending?*", broken);
		await page.locator(".notice.error button").last().click();
	});
	await day.check("a Save that fails is told in words, and stays to be done",
	    async () => {
		const {codein, codeGamme, wanted} = await articleAt(page, 9);
		const broken = fails(500, "internal_error");

		await setRow(page, 9, wanted);
		await page.route("**/app/save", broken);
		await saveRow(page, 9);
		await page.waitForFunction(() => /n'a pas été fait. Le serveur/
		    .test(document.querySelector("dialog .problem").textContent));
		assert.equal(await page.textContent("dialog .said[lang=en]"),
		    "It broke.");
		await day.axe("save-failed");
		await page.unroute("**/app/save", broken);
		await page.route("**/app/save", async (route) => {
			await page.waitForTimeout(300);
			await broken(route);
		}, {times: 1});
		await page.click("dialog footer .primary");
		await page.keyboard.press("Escape");
		await gone(page);
		await page.waitForFunction(() => /n'a pas été fait/.test(
		    document.querySelector(".notice.error")?.textContent));
		await page.click(".notice.error button");
		assert.equal((await product(codein)).codeGamme, codeGamme);
		await saveRow(page, 9);
		await gone(page);
		assert.equal((await product(codein)).codeGamme, wanted);
	});
	await day.check("what another window edits during a Save is kept",
	    async () => {
		const {codein, codeGamme, wanted} = await articleAt(page, 3);
		const then = another(codeGamme, wanted);
		const other = await page.context().newPage();

		await other.goto(page.url());
		await rowsDrawn(other);
		await setRow(page, 3, wanted);
		const saved = await hold(page, "**/app/save");

		await saveRow(page, 3);
		await saved.holds(1);
		await setRow(other, 3, then);
		await saved.letGo();
		await gone(page);
		assert.equal((await product(codein)).codeGamme, wanted);
		for (const one of [page, other])
			assert.equal(await cell(one, 3, "codeGamme")
			    .locator(".gamme.mine").textContent(), then);
		await other.close();
		await saveRow(page, 3);
		await gone(page);
		assert.equal((await product(codein)).codeGamme, then);
	});
}

async function rowsOf(day, page) {
	await day.check("a cell whose value is on its way shows that it waits",
	    async () => {
		const late = await hold(page, GRID);

		await page.click(".filters .columns");
		await page.click(".picker [data-name=reference] label");
		await page.keyboard.press("Escape");
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("reference"));
		await page.waitForSelector(".cell-waits[col-id=reference]");
		await day.shot("cells-wait");
		await late.letGo();
		await page.waitForSelector(".cell-waits", {state: "detached"});
		const {reference} = await product(await codeAt(page, 0));

		assert.equal(await cell(page, 0, "reference").textContent(),
		    reference ?? "");
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("codeGamme"));
	});
	await day.check("of filters the last one counts, however answers come",
	    async () => {
		const late = await hold(page, GRID);
		const total = async (query) => (await grid(`${query}&limit=1`))
		    .pagination.total;

		await page.click(".choice label:has(input[value=A])");
		await late.holds(1);
		await page.click(".choice label:has(input[value=B])");
		await late.holds(2);
		await page.fill(".search-box input", "chocolat");
		await late.holds(3);
		await late.letGo();
		await totalIs(page, await total("gamme=B&search=chocolat"));
		await rowsDrawn(page);
		const {data} = await grid(
		    "gamme=B&search=chocolat&limit=1&fields=codein");

		await firstRowIs(page, data[0].codein);
		await page.fill(".search-box input", "");
		await page.click(".choice label:has(input[value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("of sort orders the last one counts", async () => {
		const late = await hold(page, GRID);
		const head = ".ag-header-cell[col-id=totalQuantite] " +
		    ".ag-header-cell-label";

		await page.click(head);
		await late.holds(1);
		await page.click(head);
		await late.holds(2);
		await late.letGo();
		const {data} = await grid(
		    "sort=totalQuantite&order=asc&limit=1&fields=codein");

		await firstRowIs(page, data[0].codein);
		await page.click(head);
		await rowsDrawn(page);
	});
	await day.check("a page of rows that failed is told, and had again",
	    async () => {
		const row = 1550;
		const broken = fails(500, "internal_error");

		await page.route("**/api/v1/grid?*page=16*", broken);
		await page.evaluate((index) =>
		    productGrid.grid.ensureIndexVisible(index, "top"), row);
		await page.waitForSelector(".notice.error button.link");
		await page.unroute("**/api/v1/grid?*page=16*", broken);
		await page.click(".notice.error button.link");
		await page.waitForSelector(
		    `.ag-row[row-index="${row}"]:not(.row-waits) .words`);
		assert.equal(await page.locator(".notice.error").count(), 0);
		await toTop(page);
	});
	await day.check("a generation that is gone is left in one step",
	    async () => {
		const {meta} = await grid("limit=1&fields=codein");
		const asked = new Set();
		const old = (route) => route.request().url().includes(
		    `snapshot=${meta.snapshot}`) ?
		    fails(404, "not_found")(route) : route.fallback();
		const note = (request) => request.url().includes("/grid?") &&
		    asked.add(new URL(request.url()).searchParams
			.get("snapshot"));

		/* The cursor stays behind: the rows in sight must not move. */
		await cell(page, 0, "codein").click();
		await page.evaluate(() => document.activeElement.blur());
		await host("ctl", "compute", "--quiet", SUPPLIER);
		await page.route(GRID, old);
		page.on("request", note);
		await page.evaluate(() =>
		    productGrid.grid.ensureIndexVisible(1995, "top"));
		await page.waitForFunction(() => /recalculé/.test(
		    document.querySelector(".notices").textContent));
		await page.waitForSelector(
		    '.ag-row[row-index="2002"]:not(.row-waits) .words');
		await page.waitForTimeout(300);
		assert.equal(await page.locator(".notice",
		    {hasText: "recalculé"}).count(), 1);
		asked.delete(null);
		asked.delete(String(meta.snapshot));
		assert.equal(asked.size, 1);
		page.off("request", note);
		await page.unroute(GRID, old);
		await toTop(page);
	});
}

async function panel(day, page) {
	const heading = ".article-head h2";

	await day.check("the panel sets no range while another article is on its way",
	    async () => {
		await cell(page, 4, "libelle1").dblclick();
		await page.waitForSelector(".panel .plot canvas");
		const late = await hold(page, PRODUCT);
		const was = await page.textContent(heading);
		const box = await page.locator(".range-buttons " +
		    "[aria-pressed=false]").first().boundingBox();

		await page.keyboard.press("ArrowDown");
		await late.holds(1);
		await page.mouse.click(box.x + 9, box.y + 9);
		assert.equal(await page.textContent(heading), was);
		assert.equal(await counts(page), "");
		await late.letGo();
		await page.waitForFunction(([path, text]) => document
		    .querySelector(path).textContent !== text, [heading, was]);
	});
	await day.check("after a Save the panel shows the article at the cursor",
	    async () => {
		const {codein, wanted} = await articleAt(page, 6);

		await cell(page, 6, "libelle1").dblclick();
		await page.waitForSelector(".panel .plot canvas");
		await setRow(page, 6, wanted);
		const late = await hold(page, PRODUCT);

		await page.keyboard.press("ArrowUp");
		await late.holds(1);
		await page.keyboard.press("ArrowDown");
		await late.holds(2);
		await saveRow(page, 6);
		await gone(page);
		await late.letGo();
		await page.waitForFunction((code) => document.querySelector(
		    ".panel:not(.waits) .codes .code")?.textContent === code,
		codein);
		await page.keyboard.press("Escape");
	});
}

async function suppliers(day, page) {
	await day.check("the list of suppliers is not that of the words before",
	    async () => {
		const lines = page.locator(".popup li");
		const size = () => page.locator(".popup.suppliers")
		    .boundingBox();
		const late = await hold(page, "**/api/v1/fournisseurs?*");

		/* Words that fit one supplier were typed last. */
		await page.click("button.supplier");
		await late.holds(1);
		assert.equal(await lines.count(), 0);
		const waiting = await size();

		await late.letGo();
		await lines.nth(12).waitFor();
		assert.deepEqual(await size(), waiting);
		await page.keyboard.press("Escape");
	});
	await day.check("what is told of a supplier left meanwhile is passed over",
	    async () => {
		const {json} = await api("GET", "/api/v1/fournisseurs");
		const {code} = json.data.find((one) => !one.hasSnapshot);

		await host("ctl", "compute", "--quiet", code);
		const late = await hold(page, "**/api/v1/*", (request) =>
		    request.url().includes(`fournisseur=${SUPPLIER}`));

		await page.reload();
		await late.holds(2);
		await page.click("button.supplier");
		await chooseSupplier(page, code);
		await rowsDrawn(page);
		await page.waitForFunction(() => /CA/.test(
		    document.querySelector(".totals").textContent));
		const totals = await page.textContent(".totals");

		await late.letGo();
		assert.equal(await page.textContent(".totals"), totals);
		assert.equal(await page.locator(".notice.error").count(), 0);
		await page.click("button.supplier");
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
	});
	await day.check("Back, twice at once, marks the class that is shown",
	    async () => {
		await page.locator(".tree > li:not([data-code='']) .line")
		    .first().click();
		await page.locator(".tree > li > ul > li .line").first().click();
		await page.click(".choice label:has(input[value=A])");
		await rowsDrawn(page);
		await page.reload();
		const late = await hold(page, "**/api/v1/nomenclatures?*",
		    (request) => request.url().includes("niveau=2"));

		await late.holds(1);
		await page.goBack();
		await page.goBack();
		await page.goBack();
		await late.letGo();
		await totalIs(page, ROWS);
		assert.equal(await page.locator(".tree [aria-selected=true]")
		    .getAttribute("data-code"), "");
	});
}

async function sessions(day, browser) {
	await day.check("another user who logs in saves nothing of the first one's",
	    async () => {
		const page = day.page = await open(browser);

		await withoutPolls(page);
		const {codein, codeGamme, wanted} = await articleAt(page, 8);

		await host("user", "paul");
		await setRow(page, 8, wanted);
		await linesAre(page, 1);
		await page.keyboard.press("Control+s");
		await host("expire");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog.login");
		const asked = [];

		page.on("request", (request) => request.url()
		    .endsWith("/app/save") && asked.push(request));
		await page.fill("dialog.login #user", "paul");
		await page.fill("dialog.login #password",
		    process.env.GRID_PASSWORD);
		await page.keyboard.press("Enter");
		await page.waitForSelector("dialog.login", {state: "detached"});
		await rowsDrawn(page);
		assert.equal((await product(codein)).codeGamme, codeGamme);
		assert.equal(asked.length, 0);
		assert.match(await page.textContent(".user-name"), /paul/);
		assert.equal(await counts(page), "");
		await page.context().close();
	});
}

export async function races(day, browser) {
	const page = day.page = await open(browser);

	await saving(day, page);
	await rowsOf(day, page);
	await panel(day, page);
	await suppliers(day, page);
	await day.check("the page complained of nothing meanwhile", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
	await sessions(day, browser);
}
