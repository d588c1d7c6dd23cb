/* back: the page's address keeps what is shown; Back and Forward go there. */
import assert from "node:assert/strict";
import {another, cell, codeAt, firstRowIs, grid, open, product, ROWS,
    rowsDrawn, SUPPLIER, totalIs} from "./kit.mjs";

const totalOf = async (query) => (await grid(`${query}&limit=1`))
    .pagination.total;

const chosen = (page) => page.evaluate(() => ({
	gamme: document.querySelector("[name=gamme]:checked").value,
	nomenclature: document.querySelector(".tree [aria-selected=true]")
	    ?.dataset.code,
	search: document.querySelector(".search-box input").value,
	article: document.querySelector(".panel:not([hidden]) .codes .code")
	    ?.textContent ?? "",
}));

async function goSomewhere(page) {
	await page.click(".choice label:has(input[value=A])");
	await totalIs(page, await totalOf("gamme=A"));
	await page.locator(".tree > li:not([data-code='']) .line").first()
	    .click();
	await page.locator(".tree > li > ul > li .line").first().click();
	const {nomenclature} = await chosen(page);

	assert.equal(nomenclature.length, 4);
	await totalIs(page,
	    await totalOf(`gamme=A&nomenclature=${nomenclature}`));
	await rowsDrawn(page);
	await page.click(".ag-header-cell[col-id=totalQuantite] " +
	    ".ag-header-cell-label");
	const {data} = await grid(`gamme=A&nomenclature=${nomenclature}` +
	    "&sort=totalQuantite&limit=1&fields=codein");

	await firstRowIs(page, data[0].codein);
	await cell(page, 0, "libelle1").dblclick();
	await page.waitForSelector(".panel .plot canvas");
	return {gamme: "A", nomenclature, search: "",
	    article: data[0].codein};
}

export async function back(day, browser) {
	const page = day.page = await open(browser);
	let there;

	await day.check("a reload, and a link, show the same as before",
	    async () => {
		there = await goSomewhere(page);
		const other = await page.context().newPage();

		await page.reload();
		await other.goto(page.url());
		for (const one of [page, other]) {
			await one.waitForSelector(".panel .plot canvas");
			await firstRowIs(one, there.article);
			await one.waitForFunction((code) => document
			    .querySelector(".tree [aria-selected=true]")
			    ?.dataset.code === code, there.nomenclature);
			assert.deepEqual(await chosen(one), there);
		}
		await other.close();
	});
	await day.check("Back and Forward go through what was shown",
	    async () => {
		const {nomenclature} = there;
		const all = await totalOf(`gamme=A&nomenclature=${nomenclature}`);

		await page.goBack();
		await page.waitForSelector(".panel", {state: "hidden"});
		await page.goBack();
		await page.goBack();
		await totalIs(page, await totalOf(
		    `gamme=A&nomenclature=${nomenclature.slice(0, 2)}`));
		assert.deepEqual(await chosen(page), {...there, article: "",
		    nomenclature: nomenclature.slice(0, 2)});
		await page.goBack();
		await page.goBack();
		await totalIs(page, ROWS);
		for (let i = 0; i < 4; i++)
			await page.goForward();
		await totalIs(page, all);
		await firstRowIs(page, there.article);
		await page.goForward();
		await page.waitForSelector(".panel .plot canvas");
		assert.deepEqual(await chosen(page), there);
		await page.keyboard.press("Escape");
	});
	await day.check("Back moves nothing below an open window",
	    async () => {
		const codein = await codeAt(page, 0);
		const {codeGamme} = await product(codein);
		const at = page.url();

		await page.keyboard.press("Escape");
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press(another(codeGamme));
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		await page.goBack();
		await page.waitForFunction((url) => location.href === url, at);
		assert.deepEqual(await chosen(page), {...there, article: ""});
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal((await product(codein)).codeGamme,
		    another(codeGamme));
	});
	await day.check("an address that makes no sense is passed over",
	    async () => {
		for (const hash of ["#%E0?gamme=Q", `#${SUPPLIER}?gamme=Q&` +
		    "nomenclature=x&show=all&sort=;&search=%00", "#?&&="]) {
			await page.goto("about:blank");
			await page.goto(process.env.GRID_URL + hash);
			await rowsDrawn(page);
			assert.equal((await chosen(page)).gamme, "");
		}
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
