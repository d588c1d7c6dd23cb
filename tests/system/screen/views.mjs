/* views: what is shown under a name, one's own, shared, and the first. */
import assert from "node:assert/strict";
import {grid, host, open, openPage, rowsDrawn, SUPPLIER, totalIs}
    from "./kit.mjs";

const {GRID_URL, GRID_PASSWORD} = process.env;

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

const heads = (page) => page.evaluate(() => productGrid.grid.getColumnState()
    .filter(({hide}) => !hide).map(({colId}) => colId)
    .filter((name) => !name.startsWith("ag-")));

async function keep(page, name, shared) {
	await page.click(".filters .views");
	await page.fill("#view-name", name);
	if (shared)
		await page.check("dialog label.row input");
	await page.click("dialog form .primary");
	await page.waitForFunction((text) => [...document.querySelectorAll(
	    "dialog .views th")].some((one) => one.textContent === text), name);
}

const firstOf = (page, name) => page.locator("dialog .views tr")
    .filter({hasText: name});

export async function views(day, browser) {
	const page = day.page = await open(browser);
	const stock = "gamme=B&stockActuel=gte.10";

	await day.check("columns, filters and order are kept under a name",
	    async () => {
		await page.evaluate((code) => {
			location.hash = `#${code}?gamme=B&where=${
			    encodeURIComponent("stockActuel=gte.10")}` +
			    "&sort=codeGamme,-stockActuel";
		}, SUPPLIER);
		await totalIs(page, await countOf(stock));
		await page.click(".filters .columns");
		await page.click(".picker [data-name=marque] label");
		await page.click(".picker [data-name=trend] label");
		await page.keyboard.press("Escape");
		await rowsDrawn(page);
		await keep(page, "Bons stocks", true);
		await day.axe("views");
		await page.keyboard.press("Escape");
		await page.click(".filters .columns");
		await page.click("dialog footer button");
		await page.keyboard.press("Escape");
		await page.evaluate((code) => {
			location.hash = `#${code}`;
		}, SUPPLIER);
		await totalIs(page, await countOf(""));
		assert.ok(!(await heads(page)).includes("marque"));
		await page.click(".filters .views");
		await page.click("dialog .views th button");
		await totalIs(page, await countOf(stock));
		await page.waitForFunction(() => productGrid.grid
		    .getColumn("marque") !== null);
		const shown = await heads(page);

		assert.equal(shown.at(-1), "marque");
		assert.ok(!shown.includes("trend"));
		assert.match(page.url(), /sort=codeGamme%2C-stockActuel/);
	});
	await day.check("a link to a shared view shows it to a colleague",
	    async () => {
		await page.context().grantPermissions(
		    ["clipboard-read", "clipboard-write"]);
		await page.click(".filters .views");
		await firstOf(page, "Bons stocks").locator("button").nth(2)
		    .click();
		await page.waitForFunction(() => /Lien copié/.test(
		    document.querySelector(".notices")?.textContent));
		const link = await page.evaluate(() =>
		    navigator.clipboard.readText());

		await page.keyboard.press("Escape");
		assert.ok(link.startsWith(GRID_URL), link);
		await host("user", "jeanne");
		const other = await openPage(browser);

		await other.fill("#user", "jeanne");
		await other.fill("#password", GRID_PASSWORD);
		await other.keyboard.press("Enter");
		await other.waitForSelector(".popup.suppliers input");
		await other.goto("about:blank");
		await other.goto(link);
		await rowsDrawn(other);
		await totalIs(other, await countOf(stock));
		assert.equal((await heads(other)).at(-1), "marque");
		await other.click(".filters .views");
		assert.match(await firstOf(other, "Bons stocks").textContent(),
		    /partagée, claire/);
		assert.deepEqual(other.problems, []);
		await other.context().close();
	});
	await day.check("a view of the same name is replaced only when asked",
	    async () => {
		const kept = () => page.evaluate(async () => (await (await fetch(
		    "/app/kept/shared/view.Bons%20stocks")).json()).data);
		const before = await kept();

		await page.evaluate((code) => {
			location.hash = `#${code}?gamme=Y`;
		}, SUPPLIER);
		await totalIs(page, await countOf("gamme=Y"));
		await page.click(".filters .views");
		await page.fill("#view-name", "Bons stocks");
		await page.check("dialog label.row input");
		await page.click("dialog form .primary");
		await page.waitForFunction(() => /partagée « Bons stocks » existe déjà, gardée par claire/
		    .test(document.querySelector("dialog .problem").textContent));
		assert.equal((await kept()).version, before.version);
		await day.axe("view-taken");
		await page.locator("dialog .problem button").last().click();
		assert.equal(await page.evaluate(() =>
		    document.activeElement.id), "view-name");
		await page.keyboard.press("Enter");
		await page.locator("dialog .problem button.danger").waitFor();
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => document.querySelector(
		    "dialog .problem").textContent === "");
		await page.waitForFunction(() =>
		    document.querySelector("#view-name").value === "");
		assert.match(JSON.parse((await kept()).value).query, /gamme=Y/);
		await page.keyboard.press("Escape");
	});
	await day.check("one's own view is what the page begins with",
	    async () => {
		await page.evaluate((code) => {
			location.hash = `#${code}?gamme=C`;
		}, SUPPLIER);
		await totalIs(page, await countOf("gamme=C"));
		await keep(page, "Mes C", false);
		await firstOf(page, "Mes C").locator("button").nth(1).click();
		await page.waitForSelector("dialog [aria-pressed=true]");
		await page.keyboard.press("Escape");
		await page.goto("about:blank");
		await page.goto(GRID_URL);
		await rowsDrawn(page);
		await totalIs(page, await countOf("gamme=C"));
		await page.click(".filters .views");
		for (const name of ["Mes C", "Bons stocks"]) {
			await firstOf(page, name).locator("button").last()
			    .click();
			await firstOf(page, name).waitFor({state: "detached"});
		}
		await page.keyboard.press("Escape");
		await page.goto("about:blank");
		await page.goto(GRID_URL);
		await rowsDrawn(page);
		await totalIs(page, await countOf(""));
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
