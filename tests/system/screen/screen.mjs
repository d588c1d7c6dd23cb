/*
 * A buyer's day in headless Chromium. Run by tests/system/screen.sh; each
 * check is told by name, and the last line counts them.
 */
import assert from "node:assert/strict";
import {axeSource, cell, chooseSupplier, done, host, logIn, openBrowser,
    openPage, rowsDrawn, total} from "./kit.mjs";

const {GRID_URL, GRID_KEY, GRID_SHOTS} = process.env;
const SUPPLIER = "12345";
let passed = 0, failed = 0;

async function check(name, run) {
	try {
		await run();
		passed++;
		console.log(`ok: ${name}`);
	} catch (error) {
		failed++;
		console.log(`not ok: ${name}\n${error.stack}`);
		await page.screenshot({path: `${GRID_SHOTS}/failed-${failed}.png`})
		    .catch(() => {});
	}
}

const shot = (name, of = page) =>
    of.screenshot({path: `${GRID_SHOTS}/${name}.png`});

async function api(method, path, body, key = GRID_KEY) {
	const reply = await fetch(GRID_URL + path, {method, headers: {
	    "X-API-Key": key, "Content-Type": "application/json"},
	body: body && JSON.stringify(body)});

	return {status: reply.status, json: await reply.json()};
}

const row = async (codein) => (await api("GET",
    `/api/v1/products/${codein}?fournisseur=${SUPPLIER}&fields=${
	"codeGamme,gammeAValider,codeGammeServeur"}`)).json.data;

/* A range that differs from each of these. */
const another = (...not) => [..."ABCYZ"].find((g) => !not.includes(g));

async function axe(name) {
	await page.evaluate(axeSource);
	const {violations} = await page.evaluate(() => axe.run(document, {
	    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}));
	const serious = violations.filter(({impact}) =>
	    impact === "serious" || impact === "critical");

	for (const {id, nodes} of violations)
		console.log(`    axe, ${name}: ${id} ${nodes[0].html
		    .slice(0, 160)}`);
	assert.deepEqual(serious.map(({id}) => id), []);
}

const browser = await openBrowser();
let page = await openPage(browser);

/* --- coming in -------------------------------------------------------------- */

await check("a wrong password is told in words", async () => {
	await page.fill("#user", "claire");
	await page.fill("#password", "nope");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() =>
	    document.querySelector(".problem").textContent !== "");
	await shot("login-wrong");
	await axe("login");
});
await check("login, then a supplier by the keyboard", async () => {
	await logIn(page);
	await page.waitForSelector(".popup.suppliers li");
	await shot("suppliers");
	await axe("suppliers");
	await chooseSupplier(page, SUPPLIER);
	await shot("grid");
	assert.equal(await total(page), 130000);
});
await check("nothing secret is stored, nothing comes from elsewhere",
    async () => {
	const kept = await page.evaluate(() => JSON.stringify(localStorage) +
	    JSON.stringify(sessionStorage) + document.cookie);

	assert.ok(!/grid_|grille et gammes/.test(kept), kept);
	const loaded = await page.evaluate(() =>
	    performance.getEntriesByType("resource").map(({name}) => name));

	assert.deepEqual(loaded.filter((name) => !name.startsWith(GRID_URL)), []);
});

/* --- finding ------------------------------------------------------------------ */

await check("a range filter and a search agree with the API", async () => {
	await page.click(".choice label:has(input[value=B])");
	await page.fill(".search-box input", "chocolat noir");
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${SUPPLIER}` +
	    "&gamme=B&search=chocolat+noir&limit=1");

	await page.waitForFunction((count) => document.querySelector(".totals")
	    .textContent.replace(/[^\d]/g, "").startsWith(count),
	String(json.pagination.total));
	await shot("filtered");
	await page.fill(".search-box input", "");
	await page.click(".choice label:has(input[value=''])");
	await page.waitForFunction(() => document.querySelector(".totals")
	    .textContent.replace(/[^\d]/g, "").startsWith("130000"));
});
await check("sorting by a column shows what the API sorts", async () => {
	await page.click(".ag-header-cell[col-id=totalQuantite]");
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${SUPPLIER}` +
	    "&sort=totalQuantite&limit=1&fields=codein");

	await page.waitForFunction((codein) => document.querySelector(
	    '.ag-row[row-index="0"] .ag-cell[col-id=codein]')?.textContent ===
	    codein, json.data[0].codein);
	for (let i = 0; i < 2; i++)
		await page.click(".ag-header-cell[col-id=totalQuantite]");
	await rowsDrawn(page);
});
await check("a class of the classification narrows the rows", async () => {
	const item = page.locator(".tree > li").nth(1);
	const count = (await item.locator(".count").first().textContent())
	    .replace(/[^\d]/g, "");

	await item.locator(".line").first().click();
	await page.waitForFunction((n) => document.querySelector(".totals")
	    .textContent.replace(/[^\d]/g, "").startsWith(n), count);
	await page.locator(".tree > li .line").first().click();
});
await check("Ctrl+End reaches the last of 130,000 rows", async () => {
	await rowsDrawn(page);
	await cell(page, 0, "libelle1").click();
	await page.keyboard.press("Control+End");
	await page.waitForFunction(() => document.querySelector(
	    '.ag-row[row-index="129999"] .kind-label')?.textContent.length > 0);
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${SUPPLIER}` +
	    "&page=1300&limit=100&fields=codein");

	assert.equal(await cell(page, 129999, "codein").textContent(),
	    json.data.at(-1).codein);
	await shot("last-row");
	await page.keyboard.press("Control+Home");
	await rowsDrawn(page);
});

/* --- an article --------------------------------------------------------------- */

await check("Enter opens the article, arrows move on, Escape closes",
    async () => {
	await cell(page, 2, "libelle1").click();
	await page.keyboard.press("Enter");
	await page.waitForSelector(".panel .plot canvas");
	const first = await page.textContent(".article-head h2");

	await page.waitForTimeout(300);
	await shot("article");
	await axe("article");
	await page.keyboard.press("ArrowDown");
	await page.waitForFunction((was) => document.querySelector(
	    ".article-head h2")?.textContent !== was, first);
	await page.keyboard.press("Escape");
	await page.waitForSelector(".panel", {state: "hidden"});
});

/* --- ranges -------------------------------------------------------------------- */

const codes = [];
for (let i = 0; i < 6; i++)
	codes.push(await cell(page, i, "codein").textContent());
const before = await Promise.all(codes.map(row));
const wanted = before.map(({codeGamme}) => another(codeGamme));

await check("a script's proposals appear with badge, author and time",
    async () => {
	const changes = [0, 1, 2].map((i) => (
	    {codein: codes[i], gamme: wanted[i]}));
	const {status} = await api("POST", "/api/v1/gammes",
	    {fournisseur: SUPPLIER, changes});

	assert.equal(status, 200);
	await page.waitForSelector(".proposal .badge", {timeout: 25000});
	assert.match(await page.getAttribute(".proposal", "title"),
	    /agent-gammes, /);
	assert.equal(await page.locator(".proposal").count(), 3);
});
await check("a letter sets a range, Ctrl+Z takes it back", async () => {
	await cell(page, 3, "libelle1").click();
	await page.keyboard.press(wanted[3].toLowerCase());
	await page.waitForSelector(".gamme.mine");
	await page.keyboard.press("Control+z");
	await page.waitForSelector(".gamme.mine", {state: "detached"});
	await page.keyboard.press(wanted[3].toLowerCase());
	await page.waitForSelector(".gamme.mine");
	await shot("ranges");
	await axe("ranges");
});
await check("the filter To validate shows the proposals alone", async () => {
	await page.click(".choice label:has(input[value=pending])");
	await page.waitForFunction(() => document.querySelector(".totals")
	    .textContent.startsWith("3 "));
	await shot("to-validate");
	await page.click("fieldset:nth-of-type(2) label:first-of-type");
	await rowsDrawn(page);
});
await check("Save one of the selection: applied, the others wait",
    async () => {
	await page.locator('.ag-row[row-index="0"] input[type=checkbox]')
	    .first().check({force: true});
	await page.keyboard.press("Control+s");
	await page.waitForSelector("dialog[open]");
	await shot("save");
	await axe("save");
	await page.click("dialog footer .primary");
	await page.waitForSelector("dialog", {state: "detached"});
	assert.equal((await row(codes[0])).codeGamme, wanted[0]);
	assert.equal((await row(codes[1])).gammeAValider, wanted[1]);
	assert.match(JSON.parse(await host("ctl", "gammes", "export")),
	    new RegExp(`${SUPPLIER},${codes[0]},${wanted[0]}`));
});
await check("Cancel another: rejected, its range as before", async () => {
	await rowsDrawn(page);
	await page.locator('.ag-row[row-index="1"] input[type=checkbox]')
	    .first().check({force: true});
	await page.click(".foot button:nth-of-type(2)");
	await page.waitForSelector("dialog[open]");
	await shot("cancel");
	await page.click("dialog footer .danger");
	await page.waitForSelector("dialog", {state: "detached"});
	const now = await row(codes[1]);

	assert.equal(now.gammeAValider, null);
	assert.equal(now.codeGamme, before[1].codeGamme);
});
await check("someone was faster: told, and nothing is overwritten",
    async () => {
	await page.keyboard.press("Control+s");
	await page.waitForSelector("dialog[open]");
	const {status} = await api("PUT", `/api/v1/products/${codes[2]}/gamme`,
	    {fournisseur: SUPPLIER,
		gamme: another(wanted[2], before[2].codeGamme)});

	assert.equal(status, 200);
	await page.click("dialog footer .primary");
	await page.waitForFunction(() => /quelqu'un d'autre/.test(
	    document.querySelector("dialog h2")?.textContent));
	await shot("conflict");
	await axe("conflict");
	assert.equal((await row(codes[2])).codeGamme, before[2].codeGamme);
	assert.equal((await row(codes[3])).codeGamme, wanted[3]);
	await page.keyboard.press("Escape");
});

/* --- keys ------------------------------------------------------------------------ */

await check("a key is made, used, revoked, and then refused", async () => {
	await page.click("header.top button.quiet");
	await page.fill("#key-name", "nuit");
	await page.selectOption("#key-scope", "read");
	await page.click("form.row .primary");
	const key = await page.inputValue(".fresh .secret");

	await shot("keys");
	await axe("keys");
	assert.equal((await api("GET", "/api/v1/fournisseurs", undefined, key))
	    .status, 200);
	await page.locator("tr", {hasText: "nuit"}).locator("button.danger")
	    .click();
	await page.locator("dialog").last().locator("footer .danger").click();
	await page.waitForSelector("tr.revoked");
	assert.equal((await api("GET", "/api/v1/fournisseurs", undefined, key))
	    .status, 401);
	await page.keyboard.press("Escape");
});
await check("columns are chosen and kept after a reload", async () => {
	await page.click(".filters button.quiet");
	await page.click(".picker [data-name=marque] label");
	await shot("columns");
	await axe("columns");
	await page.keyboard.press("Escape");
	await page.reload();
	await page.waitForSelector(".ag-header-cell", {timeout: 10000});
	await rowsDrawn(page);
	assert.ok((await page.evaluate(() => localStorage["grid.columns"]))
	    .includes("marque"));
});

/* --- when things go wrong ----------------------------------------------------------- */

await check("the server restarts in mid-use: told, then it goes on",
    async () => {
	await page.route("**/api/**", (route) => route.fulfill({status: 502,
	    contentType: "application/json",
	    body: '{"error":{"code":"internal_error","message":"gone"}}'}));
	await page.fill(".search-box input", "fromage");
	await page.waitForSelector(".connection:not([hidden])");
	await shot("offline");
	await axe("offline");
	await host("restart");
	await page.unroute("**/api/**");
	await page.waitForSelector(".connection", {state: "hidden"});
	await rowsDrawn(page);
	const {json} = await api("GET", `/api/v1/grid?fournisseur=${SUPPLIER}` +
	    "&search=fromage&limit=1&fields=codein");

	await page.waitForFunction((codein) => document.querySelector(
	    '.ag-row[row-index="0"] .ag-cell[col-id=codein]')?.textContent ===
	    codein, json.data[0].codein);
});
await check("a session that ended asks for the password, and goes on",
    async () => {
	await cell(page, 4, "libelle1").click();
	await page.keyboard.press(another((await row(await cell(page, 4,
	    "codein").textContent())).codeGamme).toLowerCase());
	await host("expire");
	await page.fill(".search-box input", "rhum");
	await page.waitForSelector("main.login");
	await shot("session-ended");
	await page.fill("#password", process.env.GRID_PASSWORD);
	await page.keyboard.press("Enter");
	await page.waitForSelector("main.login", {state: "detached"});
	await rowsDrawn(page);
	assert.match(await page.textContent(".foot .counts"), /1 modification/);
});
await check("a supplier without snapshot is computed on demand", async () => {
	const {json} = await api("GET", "/api/v1/fournisseurs");
	const absent = json.data.filter((one) => !one.hasSnapshot);

	for (const {code} of absent.slice(0, 6)) {
		const reply = await api("GET", `/api/v1/grid?fournisseur=${code
		}&compute=0&limit=1`);

		if (reply.status !== 202)
			continue;
		await page.click("button.supplier");
		await page.fill(".popup input", code);
		await page.waitForFunction(() =>
		    document.querySelectorAll(".popup li").length === 1);
		await page.keyboard.press("Enter");
		await page.waitForFunction((text) => document.querySelector(
		    ".supplier-name .code")?.textContent === text, code);
		await page.waitForFunction(() => /\d/.test(
		    document.querySelector(".totals").textContent) ||
		    !document.querySelector(".rows-state").hidden);
		await rowsDrawn(page);
		return;
	}
	assert.fail("no supplier to compute");
});
await check("the page complained of nothing", () =>
    assert.deepEqual(page.problems, []));

/* --- other looks ----------------------------------------------------------------------- */

for (const [name, options] of [
	["dark-english", {colorScheme: "dark", locale: "en-GB"}],
	["tablet", {viewport: {width: 820, height: 1180}, hasTouch: true}]])
	await check(`it can be used as: ${name}`, async () => {
		page = await openPage(browser, options);
		await logIn(page);
		await chooseSupplier(page, SUPPLIER);
		await shot(name);
		await cell(page, 1, "libelle1").dblclick();
		await page.waitForSelector(".panel .plot canvas");
		await page.waitForTimeout(300);
		await shot(`${name}-article`);
		await axe(name);
		assert.deepEqual(page.problems, []);
	});

await browser.close();
done();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
