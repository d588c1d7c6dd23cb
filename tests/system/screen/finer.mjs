/* finer: sums of a block, a row by its number, other suppliers, figures of bars. */
import assert from "node:assert/strict";
import {another, api, cell, codeAt, firstRowIs, grid, open, product, propose,
    ROWS, rowsDrawn, SUPPLIER} from "./kit.mjs";

const plainText = (text) => text.replace(/[\s\u202f\u00a0]/g, " ");

export async function finer(day, browser) {
	const page = day.page = await open(browser);

	await day.check("the foot sums the block of cells", async () => {
		const {data} = await grid("limit=4&fields=totalCa,totalQuantite");
		const money = new Intl.NumberFormat("fr-FR", {style: "currency",
		    currency: "EUR", maximumFractionDigits: 0});
		const sum = data.reduce((all, {totalCa}) => all + totalCa, 0);

		await cell(page, 0, "totalCa").click();
		await page.keyboard.press("Shift+ArrowRight");
		for (let i = 0; i < 3; i++)
			await page.keyboard.press("Shift+ArrowDown");
		await page.waitForFunction((text) => document.querySelector(
		    ".foot .sums")?.textContent.replace(/[\s\u202f\u00a0]/g, " ")
		    .includes(text), `somme ${plainText(money.format(sum))}`);
		assert.match(plainText(await page.textContent(".foot .sums")),
		    /^8 cellules/);
		await day.axe("sums");
		await page.keyboard.press("ArrowUp");
		await page.waitForSelector(".foot .sums", {state: "hidden"});
	});
	await day.check("Ctrl+G goes to a row by its number", async () => {
		const {data} = await grid(`page=${ROWS - 7}&limit=1&fields=codein`);

		await page.keyboard.press("Control+g");
		await page.fill("#row-number", String(ROWS + 1));
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => document.querySelector(
		    "dialog .problem").textContent !== "");
		await page.fill("#row-number", String(ROWS - 7));
		await page.keyboard.press("Enter");
		await page.waitForSelector(`.ag-row[row-index="${
		    ROWS - 8}"]:not(.row-waits)`);
		assert.equal(await codeAt(page, ROWS - 8), data[0].codein);
	});
	await day.check("the search box looks at all suppliers, too", async () => {
		await page.keyboard.press("/");
		await page.keyboard.type("beurre");
		await page.waitForSelector(".search-box .everywhere");
		await page.keyboard.press("Control+Enter");
		await page.waitForSelector("dialog .across tbody tr");
		const {json} = await api("GET", "/api/v1/products/search?q=beurre" +
		    "&limit=100&fields=codein,codeFournisseur");
		const codes = await page.locator("dialog .across tbody th")
		    .allTextContents();

		assert.deepEqual(codes, json.data.map(({codein}) => codein));
		await day.axe("across");
		await page.locator("dialog .across tbody button").last().click();
		const last = json.data.at(-1);

		await page.waitForFunction(([code, article]) =>
		    location.hash.startsWith(`#${encodeURIComponent(code)}`) &&
		    location.hash.includes(`article=${article}`),
		[last.codeFournisseur, last.codein]);
		await page.waitForSelector(".panel .codes .code");
		await page.goBack();
		await page.waitForFunction((code) => location.hash
		    .startsWith(`#${code}?search=beurre`), SUPPLIER);
		await page.fill(".search-box input", "");
		await rowsDrawn(page);
	});
	await day.check("bars tell their months, stores their names", async () => {
		const {data: [row]} = await grid("limit=1&fields=sales12m");
		const {json} = await api("GET", "/api/v1/magasins?limit=1000");
		const names = new Map(json.data.map(({code, nom}) => [code, nom]));

		await firstRowIs(page, row.codein);
		await cell(page, 0, "sales12m").hover();
		await page.waitForFunction(() => document.querySelector(
		    '.ag-row[row-index="0"] [col-id=sales12m]').title
		    .split("\n").length === 12);
		await cell(page, 0, "libelle1").dblclick();
		await page.waitForSelector(".panel .stores tbody tr");
		const stores = page.locator(".panel .stores tbody th");
		const code = await stores.first().locator(".code").textContent();

		await page.waitForFunction((text) => document.querySelector(
		    ".panel .store-name").textContent === text,
		names.get(code) ?? "");
	});
	await day.check("the article tells what happened to its range",
	    async () => {
		const codein = await page.textContent(".panel .codes .code");
		const {codeGamme} = await product(codein);
		const path = `/api/v1/products/${codein}/gammes?fournisseur=${
		    SUPPLIER}`;

		await propose(codein, another(codeGamme));
		/* With the proposal: none was there yet, or another one. */
		const {total} = (await api("GET", path)).json.meta;

		await page.evaluate(() => dispatchEvent(new Event("focus")));
		await page.waitForSelector(
		    '.ag-row[row-index="0"] .proposal');
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("-");
		/* With 20 lines there already, their number tells nothing. */
		await page.waitForFunction((count) => {
			const lines = document.querySelectorAll(
			    ".panel .history li");

			return lines.length === count &&
			    lines[0].textContent.startsWith("Rejetée");
		}, Math.min(total + 1, 20));
		const {data} = (await api("GET", path)).json;

		assert.equal(data[0].etat, "rejetee");
		assert.match(await page.locator(".panel .history li").first()
		    .textContent(), /^Rejetée .*claire/);
		await day.axe("history");
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
