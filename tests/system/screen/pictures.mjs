/*
 * pictures: those of docs/img, of the demo's data with proposals, reasons and
 * edits. Run by hand: docs/grid.md says how.
 */
import {another, api, cell, grid, hangUp, open, openBrowser, SUPPLIER}
    from "./kit.mjs";

const folder = process.env.GRID_PICTURES ?? process.env.GRID_SHOTS;
const REASONS = ["moins vendu que le reste de la gamme", "en forte hausse",
    "en rupture chez la moitié des magasins"];

const shoot = (page, name) =>
    page.screenshot({path: `${folder}/grid-${name}.png`});

/* Some of a supplier's best sellers get proposals. */
async function propose(supplier, places) {
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${supplier}` +
	    "&sort=totalCa&limit=12&fields=codeGamme");
	const changes = places.map((place, i) => ({
		codein: json.data[place].codein, motif: REASONS[i % REASONS.length],
		gamme: another(json.data[place].codeGamme)}));

	await api("POST", "/api/v1/gammes", {fournisseur: supplier, changes});
}

async function begin(browser, options) {
	const page = await open(browser, options);

	await page.waitForSelector(".proposal");
	for (const [row, letter] of [[3, "C"], [6, "Y"]]) {
		await cell(page, row, "libelle1").click();
		await page.keyboard.press(letter);
	}
	return page;
}

const browser = await openBrowser();
const {json: {data: suppliers}} = await api("GET",
    "/api/v1/fournisseurs?limit=1000");

await propose(SUPPLIER, [1, 4, 8]);
for (const {code} of suppliers.filter((one) => one.code !== SUPPLIER)
    .slice(0, 3))
	await propose(code, [0, 2]).catch(() => null);

const page = await begin(browser);

await page.waitForTimeout(500);
await shoot(page, "ranges");
await page.click(".top .inbox");
await page.waitForSelector(".inbox-list tbody tr");
await shoot(page, "inbox");
await page.keyboard.press("Escape");
await page.click(".choice label:has(input[value=C])");
await page.waitForTimeout(500);
await cell(page, 0, "libelle1").click();
await page.keyboard.press("Control+a");
await page.waitForFunction(() =>
    document.querySelector(".ag-header .tick").checked);
await page.keyboard.press("z");
await page.waitForSelector("dialog .parts");
await shoot(page, "many");
await page.keyboard.press("Escape");
await page.click(".counts .link");
await page.click(".choice label:has(input[name=gamme][value=''])");
await page.waitForTimeout(500);
await cell(page, 1, "libelle1").dblclick();
await page.waitForSelector(".panel .plot canvas");
await page.waitForTimeout(500);
await shoot(page, "article");
await page.context().close();

const dark = await begin(browser, {colorScheme: "dark", locale: "en-GB"});

await cell(dark, 1, "libelle1").dblclick();
await dark.waitForSelector(".panel .plot canvas");
await dark.waitForTimeout(500);
await shoot(dark, "dark");
await dark.context().close();

/* A list of brands to filter on, and a column a month. */
const more = await open(browser, {viewport: {width: 1440, height: 720}});

await more.click(".filters button.quiet");
await more.selectOption("#filter-column", "marque");
await more.locator(".values li").nth(3).waitFor();
for (const nth of [1, 3])
	await more.locator(".values label").nth(nth).click();
await shoot(more, "filter");
await more.keyboard.press("Escape");
await more.click(".filters .columns");
await more.locator(".months input").first().click();
await more.keyboard.press("Escape");
await more.evaluate(() =>
    productGrid.grid.ensureColumnVisible("sales12m-0"));
await more.waitForTimeout(500);
await shoot(more, "months");
await more.click(".filters .columns");
await more.locator(".months input").first().click();
await more.locator("fieldset.months").nth(1).locator("input").first().click();
await more.keyboard.press("Escape");
await more.click(".choice label:has(input[value=A])");
await more.evaluate(() =>
    productGrid.grid.ensureColumnVisible("evolutionQteN1"));
await more.waitForTimeout(500);
await more.click(".filters .summary");
await more.locator("input[name=sum-by][value=brand]").check({force: true});
await more.locator("dialog td.on-year").first().waitFor();
await shoot(more, "year");
await browser.close();
hangUp();
const {pagination} = await grid("aValider=1&limit=1");

console.log(`${pagination.total > 0 ? 1 : 0} passed, 0 failed`);
process.exit(0);
