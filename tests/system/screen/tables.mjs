/*
 * tables: the tables of the windows: heads whole and in line with what stands
 * below them, figures with one minus sign.
 */
import assert from "node:assert/strict";
import {another, api, cell, grid, open, rejectAt, SUPPLIER} from "./kit.mjs";

/* Words that two lines share: "Propos|als". */
const brokenWords = (page, table) => page.evaluate((selector) => {
	const words = document.createRange();

	return [...document.querySelectorAll(`${selector} :is(th, td)`)]
	    .flatMap((cell) => {
		const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
		const broken = [];

		while (texts.nextNode())
			for (const {0: word, index} of
			    texts.currentNode.data.matchAll(/\S+/g)) {
				words.setStart(texts.currentNode, index);
				words.setEnd(texts.currentNode,
				    index + word.length);
				if (new Set([...words.getClientRects()]
				    .map(({top}) => top)).size > 1)
					broken.push(word);
			}
		return broken;
	    });
}, table);

/* Figures in two lines. */
const brokenFigures = (page, table) => page.evaluate((selector) => {
	const words = document.createRange();

	return [...document.querySelectorAll(`${selector} td.right`)]
	    .filter((one) => {
		words.selectNodeContents(one);
		return new Set([...words.getClientRects()]
		    .map(({top}) => top)).size > 1;
	    }).map(({textContent}) => textContent);
}, table);

/* How far the words of each row's first link are from the head's, in pixels. */
const linksAside = (page, table) => page.evaluate((selector) => {
	const left = (node) => {
		const words = document.createRange();

		words.selectNodeContents(node);
		return Math.round(words.getBoundingClientRect().left);
	};
	const head = left(document.querySelector(`${selector} thead th`));

	return [...document.querySelectorAll(
	    `${selector} tbody th button.link`)].map((link) => left(link) - head);
}, table);

const LINES = ".dialog-body table tbody tr";

async function inLine(page) {
	await page.waitForSelector(LINES);
	assert.deepEqual(await brokenWords(page, ".dialog-body table"), []);
	assert.deepEqual(await brokenFigures(page, ".dialog-body table"), []);
	const aside = await linksAside(page, ".dialog-body table");

	assert.ok(aside.length > 0 && aside.every((by) => by === 0), `${aside}`);
}

/* One of a supplier's articles waits; returns its code. */
async function oneWaits() {
	const {data: [{codein, codeGamme}]} = await grid(
	    "limit=1&fields=codein,codeGamme");

	await api("POST", "/api/v1/gammes", {fournisseur: SUPPLIER, changes: [
	    {codein, gamme: another(codeGamme), motif: "en forte hausse"}]});
	return codein;
}

/* Minus signs that the page shows, as their code points. */
const minusSigns = (page) => page.evaluate(() => [...new Set([...document
    .querySelectorAll(".ag-cell[col-id^=evolution], .ag-cell[col-id=trend]")]
    .flatMap(({textContent}) => textContent.match(/[-\u2212]/g) ?? []))]
    .map((one) => one.codePointAt(0).toString(16)));

export async function tables(day, browser) {
	const codein = await oneWaits();

	for (const [width, locale] of [[390, "en-GB"], [390, "fr-FR"],
	    [1280, "en-GB"]])
		await day.check(`tables are in line at ${width}, ${locale}`,
		    async () => {
			const page = day.page = await open(browser,
			    {viewport: {width, height: 844}, locale});

			await page.click(".top .inbox");
			await inLine(page);
			await page.keyboard.press("Escape");
			await page.click(".filters .summary");
			await inLine(page);
			await page.locator("input[name=sum-by][value=month]")
			    .check({force: true});
			await page.waitForSelector(".month-line");
			await inLine(page);
			await page.keyboard.press("Escape");
			assert.deepEqual(page.problems, []);
			await page.context().close();
		});
	await day.check("changes and trends have one minus sign", async () => {
		for (const locale of ["fr-FR", "en-GB"]) {
			const page = day.page = await open(browser,
			    {viewport: {width: 1920, height: 1080}, locale});

			await cell(page, 0, "trend").filter({hasText: /\S/})
			    .waitFor();
			assert.deepEqual(await minusSigns(page), ["2212"]);
			assert.deepEqual(page.problems, []);
			await page.context().close();
		}
	});
	day.page = await open(browser);
	await rejectAt(day.page, codein);
	await day.page.context().close();
}
