/* places: what a link, F5 and Back come to, where something is not as usual. */
import assert from "node:assert/strict";
import {cell, chooseSupplier, codeAt, firstRowIs, grid, open, rowsDrawn, SUPPLIER}
    from "./kit.mjs";

const {GRID_URL} = process.env;

const shown = (page) => page.evaluate(() => ({
	article: document.querySelector(".panel:not([hidden]) .codes .code")
	    ?.textContent ?? "",
	address: new URLSearchParams(location.hash.split("?")[1] ?? "")
	    .get("article") ?? "",
}));

/* What an address must not say, or says wrongly. */
const NO_FILTER = ["fournisseur=12346", "fournisseur=eq.12346", "enrich=0",
    "search=x", "page=2", "limit=eq.1", "fields=in.(codein)", "nope=gt.1",
    "__proto__=is.null", "constructor=eq.1", "toString=is.null",
    "totalCa=1", "codeFournisseurs=eq.1", "snapshot=eq.1", "a.b=gt.1"];
const WRONG_VALUE = ["derniereVente=gte.2026-99-99", "derniereVente=gte.x",
    "trend=in.(nope)", "trend=in.(up,__proto__)", "trend=ilike.*x*",
    "totalCa=gte.x", "sales12m.999999=gt.1"];

async function goTo(page, hash) {
	await page.goto("about:blank");
	await page.goto(GRID_URL + hash);
}

/*
 * The article, after the rows and the cursor have come: the cursor's first
 * place is told to the panel 90 ms later, if it is told at all.
 */
async function articleStays(page, codein) {
	await page.waitForSelector(".panel .plot canvas");
	await rowsDrawn(page);
	await page.waitForFunction(() =>
	    document.querySelector(".ag-cell-focus") !== null);
	await page.waitForTimeout(300);
	assert.deepEqual(await shown(page), {article: codein, address: codein});
}

export async function places(day, browser) {
	const page = day.page = await open(browser);
	const {data} = await grid("limit=40&fields=codein");
	const far = data[37].codein;

	await day.check("a link to an article, and F5, show that article",
	    async () => {
		await goTo(page, `#${SUPPLIER}?article=${far}`);
		await articleStays(page, far);
		await page.reload();
		await articleStays(page, far);
	});
	await day.check("Back from another supplier comes to the article again",
	    async () => {
		await page.click("button.supplier");
		await page.waitForSelector(".popup li:nth-child(2) .code");
		const other = await page.locator(".popup li .code")
		    .evaluateAll((all, not) => all.map((one) => one.textContent)
			.find((code) => code !== not), SUPPLIER);

		await chooseSupplier(page, other);
		await page.waitForSelector(".panel", {state: "hidden"});
		await page.goBack();
		await articleStays(page, far);
	});
	await day.check("a link to an unknown supplier or article says so",
	    async () => {
		await goTo(page, `#${SUPPLIER}?article=no-such`);
		await page.waitForFunction(() => /no-such n'existe pas/.test(
		    document.querySelector(".panel .problem")?.textContent));
		await rowsDrawn(page);
		await goTo(page, "#no-such-supplier");
		await page.waitForFunction(() => /no-such-supplier n'existe pas/
		    .test(document.querySelector(".rows-state")?.textContent));
		assert.equal(await page.locator(".ag-row").count(), 0);
		await goTo(page, `#${SUPPLIER}`);
		await rowsDrawn(page);
		await page.evaluate(() => {
			location.hash = "#gone";
		});
		await page.waitForFunction(() => /gone n'existe pas/.test(
		    document.querySelector(".notices")?.textContent));
		await page.waitForFunction((hash) => location.hash
		    .startsWith(hash), `#${SUPPLIER}`);
	});
	await day.check("an address filters columns, and says nothing else",
	    async () => {
		const asked = [];
		const listen = (request) => asked.push(request.url());
		const where = (words) =>
		    `where=${encodeURIComponent(words)}`;

		page.on("request", listen);
		await goTo(page, `#${SUPPLIER}?${where("totalCa=gt.0")}&${
		    NO_FILTER.map(where).join("&")}`);
		await rowsDrawn(page);
		assert.equal(await page.locator(".chips li").count(), 1);
		for (const url of asked.filter((one) => /\/grid\?/.test(one))) {
			const params = new URL(url).searchParams;

			assert.deepEqual(params.getAll("fournisseur"),
			    [SUPPLIER], url);
			for (const words of NO_FILTER)
				assert.ok(!params.getAll(words.split("=")[0])
				    .includes(words.split("=")[1]), url);
		}
		for (const words of WRONG_VALUE) {
			await goTo(page, `#${SUPPLIER}?${where(words)}`);
			await page.waitForSelector(".chips li");
			await page.waitForFunction(() => document
			    .querySelector(".rows-state")
			    ?.textContent.length > 0 ||
			    document.querySelector(".ag-row"));
			await page.click(".chips li button");
			await rowsDrawn(page);
		}
		page.off("request", listen);
		assert.deepEqual(page.problems, []);
	});
	await day.check("a bar stands at its month, also without earlier sales",
	    async () => {
		const {data: rows, meta} = await grid(
		    "limit=300&fields=sales12m");
		const at = rows.findIndex(({sales12m}) => {
			const months = Object.keys(sales12m).sort();

			return months.length > 0 && months.length < 12 &&
			    months[0].slice(4) !== "01";
		});
		const last = meta.donneesAu.slice(0, 7).replace("-", "");

		assert.ok(at >= 0, "no article with few months");
		await page.evaluate((row) => productGrid.grid
		    .ensureIndexVisible(row, "middle"), at);
		await page.waitForFunction((row) => document.querySelector(
		    `.ag-row[row-index="${row}"] .bars path`) !== null, at);
		const heights = await cell(page, at, "sales12m")
		    .locator("path").evaluate((one) => one.getAttribute("d")
			.split("M").slice(1).map((bar) =>
			    Number(/v-([\d.]+)/.exec(bar)[1])));
		const months = Array.from({length: 12}, (_, i) => {
			const n = last.slice(0, 4) * 12 + +last.slice(4) - 12 + i;

			return `${Math.floor(n / 12)}${
			    String(n % 12 + 1).padStart(2, "0")}`;
		});

		assert.equal(heights.length, 12);
		assert.deepEqual(heights.map((height) => height > 0.6),
		    months.map((month) => (rows[at].sales12m[month] ?? 0) /
			Math.max(...Object.values(rows[at].sales12m)) * 20 >
			0.6));
	});
	await day.check("the foot tells the day of the data", async () => {
		const {meta} = await grid("limit=1&fields=codein");
		const [year, month, date] = meta.donneesAu.split("-");

		await page.waitForFunction((text) => document.querySelector(
		    ".totals").textContent.includes(text),
		`Données au ${date}/${month}/${year}`);
	});
	await day.check("Ctrl+C copies numbers as a spreadsheet takes them",
	    async () => {
		await page.context().grantPermissions(
		    ["clipboard-read", "clipboard-write"]);
		await page.evaluate(() => productGrid.grid
		    .ensureIndexVisible(0));
		const {data: [row]} = await grid(
		    "limit=1&fields=tauxMarge,totalCa,trend,sales12m");
		const copy = async (name) => {
			await page.evaluate((column) => productGrid.grid
			    .ensureColumnVisible(column), name);
			await cell(page, 0, name).click();
			await page.keyboard.press("Control+c");
			return page.evaluate(() =>
			    navigator.clipboard.readText());
		};
		const number = (text) => Number(text.replace(",", "."));

		assert.equal(await codeAt(page, 0), row.codein);
		assert.equal(number(await copy("totalCa")), row.totalCa);
		assert.match(await copy("tauxMarge"), /^-?\d+(,\d+)?%$/);
		assert.equal((await copy("sales12m")).split("\t").length, 12);
		assert.equal(await copy("trend"), row.trend?.label ?? "");
	});
	await day.check("Shift adds a second key, and the address keeps both",
	    async () => {
		const sort = async (name, modifiers) => {
			await page.evaluate((column) => productGrid.grid
			    .ensureColumnVisible(column), name);
			await page.click(`.ag-header-cell[col-id=${name}] ` +
			    ".ag-header-cell-label", {modifiers});
		};

		await sort("codeGamme", []);
		await sort("totalCa", ["Shift"]);
		await page.waitForFunction(() => location.hash.includes(
		    "sort=codeGamme%2C-totalCa"));
		assert.equal(await page.locator(".ag-header-cell-sorted-desc, " +
		    ".ag-header-cell-sorted-asc").count(), 2);
		const {data: rows} = await grid(
		    "sort=codeGamme,-totalCa&limit=9&fields=codein");
		const isShown = async () => {
			await page.evaluate(() => productGrid.grid
			    .ensureIndexVisible(0));
			await firstRowIs(page, rows[0].codein);
			for (const [i, {codein}] of rows.entries())
				assert.equal(await codeAt(page, i), codein);
		};

		await isShown();
		await page.reload();
		await rowsDrawn(page);
		await isShown();
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
	await day.check("a phone shows supplier, label, range and turnover",
	    async () => {
		const phone = day.page = await open(browser, {hasTouch: true,
		    isMobile: true, viewport: {width: 390, height: 844}});

		for (const name of ["libelle1", "codeGamme", "totalCa"]) {
			const box = await cell(phone, 0, name).boundingBox();

			assert.ok(box.x >= 0 && box.x + box.width <= 390,
			    `${name} ${JSON.stringify(box)}`);
		}
		assert.ok((await phone.locator(".supplier-name .words")
		    .boundingBox()).width > 100);
		await day.shot("phone");
		await phone.context().close();
	});
	await day.check("a wide screen gives its room to the labels",
	    async () => {
		const wide = day.page = await open(browser,
		    {viewport: {width: 1920, height: 1080}});
		const ends = async () => {
			const box = await cell(wide, 0, "trend").boundingBox();

			return box.x + box.width;
		};

		assert.ok(await ends() > 1880, await ends());
		assert.equal(await wide.locator("h1").textContent(),
		    "Product Grid");
		assert.deepEqual(wide.problems, []);
	});
	await day.page.context().close();
}
