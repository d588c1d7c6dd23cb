/* inbox: what waits at all suppliers, decided row by row. */
import assert from "node:assert/strict";
import {another, api, cell, open, rejectAt, SUPPLIER, totalIs} from "./kit.mjs";

const WHY = "moins vendu que la gamme";

const row = async (supplier, codein) => (await api("GET",
    `/api/v1/products/${codein}?fournisseur=${supplier}`)).json.data;

/* Two of a supplier's articles, with a proposal each. */
async function proposeAt(supplier, author) {
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${
	    supplier}&limit=2&fields=codeGamme`);
	const changes = json.data.map(({codein, codeGamme}) =>
	    ({codein, gamme: another(codeGamme), motif: WHY}));
	const {status} = await api("POST", "/api/v1/gammes",
	    {fournisseur: supplier, changes});

	assert.equal(status, 200, author);
	return changes;
}

/* Of the demo's suppliers, another one that has articles; computed. */
async function anotherSupplier() {
	const {json} = await api("GET", "/api/v1/fournisseurs?limit=1000");

	for (const {code} of json.data.filter((one) => one.code !== SUPPLIER)) {
		const {json: rows} = await api("GET", `/api/v1/grid?fournisseur=${
		    encodeURIComponent(code)}&limit=2&fields=codein`);

		if (rows.data?.length === 2)
			return code;
	}
	throw new Error("no other supplier has two articles");
}

const focusedCode = (page) => page.evaluate(() => document.activeElement
    .closest(".ag-row")?.querySelector("[col-id=codein]")?.textContent ?? "");

async function cursorOn(page, codein) {
	await page.waitForFunction((text) => document.activeElement
	    ?.closest(".ag-row")?.getAttribute("row-id") === text, codein);
	assert.equal(await focusedCode(page), codein);
}

export async function inbox(day, browser) {
	const page = day.page = await open(browser);
	const other = await anotherSupplier();
	const [first, second] = await proposeAt(other);

	const left = await proposeAt(SUPPLIER);

	await day.check("the inbox lists where proposals wait, and whose",
	    async () => {
		await page.click(".top .inbox");
		await page.waitForSelector(".inbox-list tbody tr");
		await day.axe("inbox");
		const line = page.locator(".inbox-list tr")
		    .filter({hasText: other});

		assert.match(await line.textContent(),
		    /2aujourd'huiagent-gammes/);
		await line.locator("button").click();
		await totalIs(page, 2);
		assert.match(page.url(), new RegExp(
		    `#${other}\\?show=pending`));
	});
	await day.check("+ accepts the row, - rejects it, N goes on",
	    async () => {
		const codes = [first, second].map(({codein}) => codein);
		const {codeGamme: before} = await row(other, second.codein);

		await page.locator(`[row-id="${first.codein}"] ` +
		    "[col-id=codein]").click();
		await cursorOn(page, first.codein);
		await page.keyboard.press("+");
		await page.waitForFunction((code) => document.querySelector(
		    `[row-id="${code}"]`) === null, first.codein);
		assert.equal((await row(other, first.codein)).codeGamme,
		    first.gamme);
		await totalIs(page, 1);
		await page.locator(`[row-id="${second.codein}"] ` +
		    "[col-id=codein]").click();
		await cursorOn(page, second.codein);
		await page.keyboard.press("-");
		await page.waitForFunction((code) => document.querySelector(
		    `[row-id="${code}"]`) === null, second.codein);
		const now = await row(other, second.codein);

		assert.equal(now.codeGamme, before);
		assert.equal(now.gammeAValider, null);
		assert.equal(codes.length, 2);
		await page.keyboard.press("n");
		await page.waitForFunction((code) => location.hash
		    .startsWith(`#${code}?show=pending`), SUPPLIER);
	});
	await day.check("who proposed it, when and why are columns",
	    async () => {
		await page.click(".filters .columns");
		for (const name of ["proposeePar", "proposeeLe", "motif"])
			await page.click(`.picker [data-name=${name}] label`);
		await page.keyboard.press("Escape");
		await page.evaluate(() => productGrid.grid
		    .ensureColumnVisible("proposeeLe"));
		await page.waitForFunction(() => document.querySelector(
		    '.ag-row[row-index="0"] [col-id=proposeePar]')
		    ?.textContent === "agent-gammes");
		assert.match(await cell(page, 0, "proposeeLe").textContent(),
		    /\d{4}/);
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("motif"));
		assert.equal(await cell(page, 0, "motif").textContent(), WHY);
		await day.shot("inbox-columns");
		await page.click(".filters .columns");
		await page.click("dialog footer button");
		await page.keyboard.press("Escape");
		assert.deepEqual(page.problems, []);
	});
	/* Nothing waits for the parts behind this one. */
	for (const {codein} of left)
		await rejectAt(page, codein);
	await page.context().close();
}
