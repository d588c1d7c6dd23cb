/*
 * day: a buyer's day through the page alone, by keys and clicks that any
 * browser has; each result is compared with the API's. Run in Chromium, and in
 * Firefox by screen_firefox.sh.
 */
import assert from "node:assert/strict";
import {another, api, cell, codeAt, firstRowIs, grid, open, product, propose,
    ROWS, rowsDrawn, SUPPLIER, totalIs} from "./kit.mjs";

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

const sumsOf = async (query) => (await api("GET",
    `/api/v1/grid/aggregates?fournisseur=${SUPPLIER}&${query}`)).json;

const show = (page, name) => page.evaluate((one) =>
    productGrid.grid.ensureColumnVisible(one), name);

const chips = (page) => page.locator(".chips li");

/* How many edits are the buyer's own. */
const minesAre = (page, count) => page.waitForFunction((n) => {
	const text = document.querySelector(".foot .counts").textContent
	    .replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1");

	return Number(/(\d+) modification/.exec(text)?.[1] ?? 0) === n;
}, count);

const go = (page) => page.click("dialog[open] footer .primary");

const gone = (page) => page.waitForSelector("dialog", {state: "detached"});

/* A spreadsheet's cells: a form in another tab that one copies from or into. */
async function openSheet(page) {
	const sheet = await page.context().newPage();

	await sheet.goto("data:text/html,<textarea rows=20></textarea>");
	return {
		async copy(text) {
			await sheet.bringToFront();
			await sheet.fill("textarea", text);
			await sheet.press("textarea", "Control+a");
			await sheet.press("textarea", "Control+c");
			await page.bringToFront();
		},
		async pasted() {
			await sheet.bringToFront();
			await sheet.fill("textarea", "");
			await sheet.press("textarea", "Control+v");
			const text = await sheet.inputValue("textarea");

			await page.bringToFront();
			return text;
		},
	};
}

/* The file that a click hands out, as text. */
const handed = (page, click) => page.evaluate(async (button) => {
	const had = URL.createObjectURL;
	const file = new Promise((done) => {
		URL.createObjectURL = (blob) => {
			done(blob);
			return had.call(URL, blob);
		};
	});

	document.querySelector(button).click();
	const text = await (await file).text();

	URL.createObjectURL = had;
	return text;
}, click);

async function morning(day, page, sheet) {
	const asleep = "stockActuel=gt.0&nbJoursDerniereVente=gte.90";
	const poor = "tauxMarge=lt.0.15&totalCa=gt.0";

	await day.check("questions of each day: two clicks, kept in the address",
	    async () => {
		await page.click(".filters button.quiet");
		await page.locator(".ready button").first().click();
		await totalIs(page, await countOf(asleep));
		await page.goBack();
		await totalIs(page, ROWS);
		await page.click(".filters button.quiet");
		await page.locator(".ready button").nth(3).click();
		await totalIs(page, await countOf(poor));
		assert.equal(await chips(page).count(), 2);
		await page.reload();
		await totalIs(page, await countOf(poor));
		assert.equal(await chips(page).count(), 2);
	});
	await day.check("what is shown is exported, row for row", async () => {
		await page.keyboard.press("e");
		await page.check("dialog input[value=csv]");
		const text = await handed(page, "dialog footer .primary");
		const {data} = await grid(`${poor}&limit=100000&fields=codein`);

		await gone(page);
		assert.deepEqual(text.trimEnd().split(/\r?\n/).slice(1)
		    .map((line) => /^"?(\w+)/.exec(line)[1]),
		data.map(({codein}) => codein));
		for (const left of [1, 0]) {
			await chips(page).last().locator("button").click();
			await page.waitForFunction((n) => document
			    .querySelectorAll(".chips li").length === n, left);
		}
		await totalIs(page, ROWS);
	});
	await day.check("GTINs pasted from a sheet with its blanks are a filter",
	    async () => {
		const {data} = await grid("gtin=is.not_null&page=9&limit=3" +
		    "&fields=gtin");

		await sheet.copy(`${data[0].gtin}\n\n  ${data[1].gtin}\t\n` +
		    `${data[2].gtin} \n\n`);
		await page.click(".filters button.quiet");
		await page.selectOption("#filter-column", "gtin");
		await page.selectOption("#filter-operator", "list");
		await page.focus("#filter-value");
		await page.keyboard.press("Control+v");
		await page.click(".filter-form .primary");
		await totalIs(page, await countOf(`gtin=in.(${data
		    .map(({gtin}) => gtin)})`));
		await chips(page).locator("button").click();
		await totalIs(page, ROWS);
	});
	await day.check("cells are copied into a sheet", async () => {
		const {data} = await grid("sort=totalCa&limit=3&fields=libelle1");

		await cell(page, 0, "codein").click();
		await page.keyboard.press("Shift+ArrowRight");
		await page.keyboard.press("Shift+ArrowDown");
		await page.keyboard.press("Shift+ArrowDown");
		await page.keyboard.press("Control+c");
		await page.waitForFunction(() => /copiées/.test(
		    document.querySelector(".notices").textContent));
		assert.equal((await sheet.pasted()).trimEnd(), data.map((row) =>
		    `${row.codein}\t${row.libelle1}`).join("\n"));
	});
	await day.check("words are looked for at all suppliers, and a GTIN",
	    async () => {
		const {json} = await api("GET", "/api/v1/products/search?q=beurre" +
		    "&limit=100&fields=codein");

		await page.keyboard.press("/");
		await page.keyboard.type("beurre");
		await page.keyboard.press("Control+Enter");
		await page.waitForSelector("dialog .across tbody tr");
		assert.deepEqual(await page.locator("dialog .across tbody th")
		    .allTextContents(), json.data.map(({codein}) => codein));
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
		await page.fill(".search-box input", "");
		await totalIs(page, ROWS);
		await firstRowIs(page, (await grid("sort=totalCa&limit=1"))
		    .data[0].codein);
	});
}

async function ranges(day, page, sheet) {
	await day.check("all that is filtered gets a range, counted, and undone",
	    async () => {
		const some = await countOf("gamme=C");

		await page.click(".choice label:has(input[value=C])");
		await totalIs(page, some);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await page.waitForFunction(() =>
		    document.querySelector(".ag-header .tick").checked);
		await page.keyboard.press("z");
		await page.waitForSelector("dialog .parts");
		await go(page);
		await minesAre(page, some);
		await page.keyboard.press("Control+z");
		await minesAre(page, 0);
		await page.keyboard.press("Control+y");
		await minesAre(page, some);
		await page.keyboard.press("Control+z");
		await minesAre(page, 0);
		await page.click(".choice label:has(input[name=gamme][value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("ranges are filled down, pasted, saved", async () => {
		const {data} = await grid("sort=totalCa&limit=6&fields=codeGamme");
		const wanted = data.map(({codeGamme}) => another(codeGamme));

		await cell(page, 0, "codeGamme").click();
		await sheet.copy(wanted.slice(0, 3).join("\n"));
		await cell(page, 0, "codeGamme").click();
		await page.keyboard.press("Control+v");
		await page.waitForSelector("dialog .parts");
		await go(page);
		await minesAre(page, 3);
		await cell(page, 2, "codeGamme").click();
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Control+d");
		await page.waitForFunction((text) => document.querySelector(
		    '.ag-row[row-index="3"] [col-id=codeGamme]')
		    .textContent.endsWith(text), wanted[2]);
		await page.keyboard.press("Control+s");
		await go(page);
		await gone(page);
		await minesAre(page, 0);
		const now = await Promise.all(data.slice(0, 4).map(
		    async ({codein}) => (await product(codein)).codeGamme));

		assert.deepEqual(now, [...wanted.slice(0, 3), wanted[2]]);
	});
}

async function proposals(day, page) {
	await day.check("what waits is accepted and rejected by one key each",
	    async () => {
		const {data} = await grid("sort=totalCa&limit=12&fields=codeGamme");
		const [first, second] = data.slice(9);

		for (const {codein, codeGamme} of [first, second])
			await propose(codein, another(codeGamme));
		await page.click(".top .inbox");
		await page.waitForSelector(".inbox-list tbody tr");
		await page.locator(".inbox-list tr").filter({hasText: SUPPLIER})
		    .locator("button").click();
		await totalIs(page, 2);
		await page.waitForFunction(() => document.querySelectorAll(
		    "#articles .proposal").length === 2);
		await page.locator(`[row-id="${first.codein}"] [col-id=codein]`)
		    .click();
		await page.keyboard.press("+");
		await totalIs(page, 1);
		await page.locator(`[row-id="${second.codein}"] [col-id=codein]`)
		    .click();
		await page.keyboard.press("-");
		await page.waitForSelector(".rows-state:not([hidden])");
		assert.equal((await product(first.codein)).codeGamme,
		    another(first.codeGamme));
		assert.equal((await product(second.codein)).codeGamme,
		    second.codeGamme);
		await page.click(".choice label:has(input[name=show][value=''])");
		await totalIs(page, ROWS);
	});
}

async function figures(day, page) {
	await day.check("brands are summed up, and one of them filtered",
	    async () => {
		const {data: [brand]} = await sumsOf("groups=marque&values=totalCa");

		await page.keyboard.press("g");
		await page.click("dialog .choice label:has(input[value=brand])");
		const button = page.locator("dialog tbody button").filter(
		    {hasText: brand.marque}).first();

		await button.waitFor();
		await button.click();
		await totalIs(page, brand.articles);
		await chips(page).locator("button").click();
		await totalIs(page, ROWS);
	});
	await day.check("a column a month: sorted by the newest", async () => {
		const {meta} = await grid("limit=1&fields=codein");
		const month = meta.donneesAu.slice(0, 7).replace("-", "");
		const {data} = await grid(`sort=sales12m.${month}&limit=1` +
		    "&fields=codein");

		await page.click(".filters .columns");
		await page.locator(".months input").first().click();
		await page.keyboard.press("Escape");
		await rowsDrawn(page);
		await show(page, "sales12m-0");
		await page.click('.ag-header-cell[col-id="sales12m-0"] ' +
		    ".ag-header-cell-label");
		await firstRowIs(page, data[0].codein);
	});
	await day.check("that is a view, and comes back under its name",
	    async () => {
		await page.keyboard.press("v");
		await page.fill("#view-name", "Mois");
		await page.keyboard.press("Enter");
		await page.locator("dialog .views th button")
		    .filter({hasText: "Mois"}).waitFor();
		await page.keyboard.press("Escape");
		await page.click(".filters .columns");
		await page.click("dialog footer button");
		await page.keyboard.press("Escape");
		await page.evaluate((code) => {
			location.hash = `#${code}`;
		}, SUPPLIER);
		await page.waitForFunction(() => productGrid.grid
		    .getColumn("sales12m-0") === null);
		await page.keyboard.press("v");
		await page.locator("dialog .views th button")
		    .filter({hasText: "Mois"}).click();
		await page.waitForFunction(() => productGrid.grid
		    .getColumn("sales12m-0") !== null &&
		    location.hash.includes("sort=-sales12m-0"));
		await page.click(".filters .columns");
		await page.click("dialog footer button");
		await page.keyboard.press("Escape");
		await page.evaluate((code) => {
			location.hash = `#${code}`;
		}, SUPPLIER);
		await rowsDrawn(page);
	});
}

async function evening(day, page) {
	await day.check("an article tells its history, and the same one elsewhere",
	    async () => {
		const {data: [{codein, gtin}]} = await grid("sort=totalCa&limit=1" +
		    "&gtin=is.not_null&fields=gtin");
		const {json} = await api("GET", `/api/v1/products/search?q=${
		    gtin}&limit=100&fields=codein`);

		await page.evaluate(([code, article]) => {
			location.hash = `#${code}?article=${article}`;
		}, [SUPPLIER, codein]);
		await page.waitForSelector(".panel .history");
		await page.locator(".panel .codes button").click();
		await page.waitForSelector("dialog .across tbody tr");
		assert.deepEqual(await page.locator("dialog .across tbody th")
		    .allTextContents(), json.data.map((one) => one.codein));
		await page.keyboard.press("Escape");
		await page.locator(".panel-tools button").last().click();
		await page.waitForSelector(".panel", {state: "hidden"});
	});
	await day.check("one goes to a row, and prints all of them", async () => {
		const {data} = await grid("sort=totalCa&page=501&limit=1" +
		    "&fields=codein");

		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+g");
		await page.fill("#row-number", "501");
		await page.keyboard.press("Enter");
		await page.waitForSelector(
		    '.ag-row[row-index="500"]:not(.row-waits)');
		assert.equal(await codeAt(page, 500), data[0].codein);
		await page.evaluate(() => {
			window.print = () => dispatchEvent(
			    new Event("beforeprint"));
		});
		await page.keyboard.press("Control+p");
		await page.locator(".paper tbody tr").first()
		    .waitFor({state: "attached"});
		assert.equal(await page.locator(".paper tbody tr").count(),
		    Math.min(ROWS, 2000));
		await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	});
	await day.check("the help teaches in a minute", async () => {
		await page.keyboard.press("?");
		await page.waitForSelector("dialog .lessons");
		assert.equal(await page.locator(".lessons li").count(), 6);
		assert.match(await page.textContent(".lessons"), /un an avant/);
		await day.axe("help");
		await page.keyboard.press("Escape");
	});
}

export async function buyersDay(day, browser) {
	const page = day.page = await open(browser,
	    {viewport: {width: 1440, height: 900}});
	const sheet = await openSheet(page);

	await morning(day, page, sheet);
	await ranges(day, page, sheet);
	await proposals(day, page);
	await figures(day, page);
	await evening(day, page);
	await day.check("and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
