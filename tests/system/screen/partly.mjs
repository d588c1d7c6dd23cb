/* partly: a Save or Cancel of several requests, of which some come through. */
import assert from "node:assert/strict";
import {another, cell, codeAt, open, product, propose, rowsDrawn, SUPPLIER} from
    "./kit.mjs";

const BUSY = {status: 503, contentType: "application/json",
    headers: {"Retry-After": "1"}, body: JSON.stringify({error: {
	code: "internal_error", message: "Too many writes are under way."}})};

const problem = (page) => page.textContent("dialog .problem");

const told = (page, words) => page.waitForFunction((text) =>
    document.querySelector("dialog .problem")?.textContent.includes(text),
words);

/* Lets `count` requests through, and answers the next one by `answer`. */
async function breakAfter(page, path, count, answer) {
	let seen = 0, broken = false;

	await page.route(path, (route) => {
		if (broken || ++seen <= count)
			return route.fallback();
		broken = true;
		return answer(route);
	});
}

/* What other checks have left waiting would be saved, too. */
async function rejectAll(page) {
	await page.evaluate(async (fournisseur) => {
		const pending = await (await fetch(
		    `/app/pending?fournisseur=${fournisseur}`)).json();

		await fetch("/app/cancel", {method: "POST",
		    headers: {"Content-Type": "application/json"},
		    body: JSON.stringify({fournisseur, all: true,
			version: pending.meta.version})});
	}, SUPPLIER);
	await page.reload();
	await rowsDrawn(page);
	await page.waitForFunction(() => document.querySelector(
	    ".foot .counts").textContent === "");
}

/* A proposal of another at the row, and the wanted range of an edit. */
async function articles(page, from) {
	const codes = [await codeAt(page, from), await codeAt(page, from + 1)];
	const before = await Promise.all(codes.map(async (code) =>
	    (await product(code)).codeGamme));
	const wanted = before.map((gamme) => another(gamme));

	await propose(codes[0], wanted[0]);
	await page.evaluate(() => dispatchEvent(new Event("focus")));
	await page.waitForSelector(`.ag-row[row-index="${from}"] .gamme.api`);
	await cell(page, from + 1, "libelle1").click();
	await page.keyboard.press(wanted[1].toLowerCase());
	return {codes, before, wanted};
}

const rangesNow = (codes) => Promise.all(codes.map(async (code) =>
    (await product(code)).codeGamme));

export async function partly(day, browser) {
	const page = day.page = await open(browser);

	await rejectAll(page);
	await day.check("a Save of which a part is refused tells what is stored",
	    async () => {
		const {codes, before, wanted} = await articles(page, 2);

		await breakAfter(page, "**/app/save", 1, (route) =>
		    route.fulfill(BUSY));
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await told(page, "1 gamme est enregistrée.");
		assert.match(await problem(page),
		    /1 n'est pas enregistrée et reste à l'écran\. Le serveur est occupé/);
		assert.deepEqual(await rangesNow(codes), [wanted[0], before[1]]);
		assert.equal(await page.textContent("dialog footer .primary"),
		    "Enregistrer le reste (1)");
		await day.axe("partly");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.deepEqual(await rangesNow(codes), wanted);
		/* One undo is for both parts. */
		await page.keyboard.press("Control+z");
		await page.waitForFunction(() => /2 modifications/.test(
		    document.querySelector(".foot .counts").textContent));
		await page.unrouteAll();
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.deepEqual(await rangesNow(codes), before);
	});
	await day.check("a part whose answer is lost is told as not known",
	    async () => {
		const {codes, wanted} = await articles(page, 6);

		await breakAfter(page, "**/app/save", 1, async (route) => {
			await route.fetch();
			return route.abort();
		});
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await told(page, "1 gamme est enregistrée. Pour 1 autre, la");
		assert.match(await problem(page), /Recommencez sans crainte/);
		assert.ok(!/n'est pas enregistrée/.test(await problem(page)));
		await page.unrouteAll();
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.deepEqual(await rangesNow(codes), wanted);
		assert.equal(await page.textContent(".foot .counts"), "");
	});
	await day.check("and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
