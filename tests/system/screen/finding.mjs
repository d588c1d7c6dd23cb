/* finding: coming in, a supplier, and the rows that one looks for. */
import assert from "node:assert/strict";
import {cell, chooseSupplier, codeAt, firstRowIs, grid, logIn, ROWS, rowsDrawn,
    SUPPLIER, totalIs} from "./kit.mjs";

const {GRID_URL} = process.env;

export async function arriving(day) {
	const {page} = day;

	await day.check("a wrong password is told in words", async () => {
		await page.fill("#user", "claire");
		await page.fill("#password", "nope");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => /incorrect/.test(
		    document.querySelector(".problem").textContent));
		await day.axe("login-wrong");
	});
	await day.check("login, then a supplier by name and keyboard",
	    async () => {
		await logIn(page);
		await page.waitForSelector(".popup.suppliers li");
		await day.axe("suppliers");
		await page.fill(".popup input", "no such supplier");
		await page.waitForFunction(() => /Aucun/.test(
		    document.querySelector(".popup .more").textContent));
		await chooseSupplier(page, "moulins étang", SUPPLIER);
		await rowsDrawn(page);
		await totalIs(page, ROWS);
		await day.axe("grid");
	});
	await day.check("no secret is stored, nothing comes from elsewhere",
	    async () => {
		const kept = await page.evaluate(() => document.cookie +
		    JSON.stringify([localStorage, sessionStorage]));
		const loaded = await page.evaluate(() =>
		    performance.getEntriesByType("resource")
			.map(({name}) => name));
		const {headers} = await fetch(GRID_URL);

		assert.ok(!/grid_|grille et gammes/.test(kept), kept);
		assert.ok(loaded.length > 3);
		assert.deepEqual(loaded.filter((name) =>
		    !name.startsWith(GRID_URL)), []);
		assert.match(headers.get("Content-Security-Policy"),
		    /default-src 'none'/);
		assert.doesNotMatch(headers.get("Content-Security-Policy"),
		    /unsafe/);
	});
}

async function narrowing(day) {
	const {page} = day;

	await day.check("a range filter and a search agree with the API",
	    async () => {
		await page.click(".choice label:has(input[value=B])");
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("/");
		await page.keyboard.type("chocolat noir");
		const {pagination} = await grid(
		    "gamme=B&search=chocolat+noir&limit=1");

		assert.ok(pagination.total > 0 && pagination.total < ROWS);
		await totalIs(page, pagination.total);
		await day.axe("filtered");
		await page.keyboard.press("Escape");
		await page.click(".choice label:has(input[value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("what matches nothing says so, and how to go on",
	    async () => {
		await page.fill(".search-box input", "zzzzz");
		await page.waitForSelector(".rows-state button");
		await day.axe("nothing");
		await page.click(".rows-state button");
		await totalIs(page, ROWS);
	});
	await day.check("three levels of classes, each with its count",
	    async () => {
		let items = page.locator(".tree > li:not([data-code=''])");

		for (const level of [2, 4, 6]) {
			const item = items.first();
			const code = await item.getAttribute("data-code");
			const count = (await item.locator(".count").first()
			    .textContent()).replace(/\D/g, "");
			const {pagination} = await grid(
			    `nomenclature=${code}&limit=1`);

			assert.equal(code.length, level);
			assert.equal(Number(count), pagination.total);
			await item.locator(".line").first().click();
			await totalIs(page, count);
			items = item.locator("> ul > li");
		}
		await day.axe("classes");
		await page.locator(".tree > li .line").first().click();
		await totalIs(page, ROWS);
	});
}

async function sortTo(page, order, codein) {
	await page.click(".ag-header-cell[col-id=totalQuantite] " +
	    ".ag-header-cell-label");
	await firstRowIs(page, codein);
	assert.equal(await page.getAttribute(
	    ".ag-header-cell[col-id=totalQuantite]", "aria-sort"), order);
}

async function scrolling(day) {
	const {page} = day;

	await day.check("sorting shows what the API sorts, both ways",
	    async () => {
		for (const [order, word] of [["desc", "descending"],
		    ["asc", "ascending"]]) {
			const {data} = await grid(`sort=totalQuantite&order=${
			    order}&limit=1&fields=codein`);

			await sortTo(page, word, data[0].codein);
		}
		const {data} = await grid("limit=1&fields=codein");

		await sortTo(page, "none", data[0].codein);
	});
	await day.check("the scrollbar reaches the last row, of one generation",
	    async () => {
		const asked = [];
		const note = (request) => request.url().includes("/grid?") &&
		    asked.push(new URL(request.url()).searchParams);

		page.on("request", note);
		await page.evaluate(() => {
			const view = document.querySelector(
			    ".ag-body-vertical-scroll-viewport");

			view.scrollTop = view.scrollHeight;
		});
		await page.waitForFunction((last) => document.querySelector(
		    `.ag-row[row-index="${last}"]:not(.row-waits) .kind-label`)
		    ?.textContent.length > 0, ROWS - 1);
		const {data, meta} = await grid(
		    `page=${Math.ceil(ROWS / 100)}&limit=100&fields=codein`);

		assert.equal(await codeAt(page, ROWS - 1), data.at(-1).codein);
		assert.ok(asked.length > 0);
		for (const params of asked)
			assert.equal(params.get("snapshot"),
			    String(meta.snapshot));
		await day.shot("last-row");
		page.off("request", note);
	});
	await day.check("the keyboard goes to the first and the last row",
	    async () => {
		await cell(page, ROWS - 1, "libelle1").click();
		await page.keyboard.press("Control+Home");
		await page.waitForSelector('.ag-row[row-index="0"]');
		await rowsDrawn(page);
		await page.keyboard.press("Control+End");
		await page.waitForFunction((last) => document.activeElement
		    .closest(".ag-row")?.getAttribute("row-index") ===
		    String(last), ROWS - 1);
		await page.keyboard.press("Control+Home");
		await rowsDrawn(page);
	});
}

async function columns(day) {
	const {page} = day;
	const shown = () => page.evaluate(() => JSON.parse(
	    localStorage["grid.columns"]).map(({name}) => name));

	await day.check("columns have the names of the API's description",
	    async () => {
		const reply = await fetch(`${GRID_URL}/api/v1/openapi.json`);
		const {components} = await reply.json();
		const names = components.schemas.Product.properties;

		for (const name of ["libelle1", "totalCa", "tauxMarge"])
			assert.equal(await page.locator(
			    `.ag-header-cell[col-id=${name}] ` +
			    ".ag-header-cell-text").textContent(),
			names[name]["x-label-fr"]);
	});
	await day.check("columns are chosen, dragged, and kept after a reload",
	    async () => {
		await page.click(".filters .columns");
		await page.click(".picker [data-name=marque] label");
		await page.locator("[data-name=trend] button:not(.pin)")
		    .first().click();
		await day.axe("columns");
		await page.keyboard.press("Escape");
		await rowsDrawn(page);
		/* The new column, the last one, came into sight. */
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("codeGamme"));
		const place = async (name) => (await page.locator(
		    `.ag-header-cell[col-id=${name}]`).boundingBox());
		const from = await place("totalQuantite");
		const to = await place("codeGamme");

		await page.mouse.move(from.x + 30, from.y + 20);
		await page.mouse.down();
		await page.mouse.move(from.x - 20, from.y + 22, {steps: 6});
		await page.mouse.move(to.x + 10, to.y + 22, {steps: 8});
		await page.waitForFunction(() => document.querySelector(
		    ".ag-header-cell[col-id=totalQuantite]")
		    .getBoundingClientRect().left < document.querySelector(
			".ag-header-cell[col-id=codeGamme]")
			.getBoundingClientRect().left);
		await page.mouse.up();
		await page.waitForFunction(() =>
		    localStorage["grid.columns"].indexOf("totalQuantite") <
		    localStorage["grid.columns"].indexOf("codeGamme"));
		const before = await shown();

		assert.equal(before.at(-1), "marque");
		assert.equal(before.at(-3), "trend");
		await page.reload();
		await rowsDrawn(page);
		assert.deepEqual(await shown(), before);
		assert.ok((await place("totalQuantite")).x <
		    (await place("codeGamme")).x);
		await page.click(".filters .columns");
		await page.click("dialog footer button");
		await page.keyboard.press("Escape");
		await rowsDrawn(page);
	});
}

export async function finding(day) {
	await narrowing(day);
	await scrolling(day);
	await columns(day);
}
