/* choosing: many rows at once, and what Save and Cancel then are about. */
import assert from "node:assert/strict";
import {another, cell, codeAt, grid, open, product, propose, ROWS, rowsDrawn,
    tick, totalIs} from "./kit.mjs";

const chosenIs = (page, count) => page.waitForFunction((text) =>
    document.querySelector(".counts")?.textContent
	?.replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1").startsWith(text),
`${count} ligne`);

const saveSays = (page, text) => page.waitForFunction((words) => document
    .querySelector(".foot .primary")?.textContent
    ?.replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1") === words, text);

const pendingNow = async () => (await grid("aValider=1&limit=1")).pagination
    .total;

export async function choosing(day, browser) {
	const page = day.page = await open(browser);

	await day.check("Shift chooses through rows that are not loaded",
	    async () => {
		const far = ROWS - 20;

		await tick(page, 0);
		await chosenIs(page, 1);
		await page.evaluate((row) => productGrid.grid
		    .ensureIndexVisible(row, "middle"), far);
		await page.waitForSelector(
		    `.ag-row[row-index="${far}"]:not(.row-waits) .tick`);
		await page.keyboard.down("Shift");
		await page.locator(`.ag-row[row-index="${far}"] .tick`).click();
		await page.keyboard.up("Shift");
		await chosenIs(page, far + 1);
		await page.click(".counts .link");
		await page.waitForSelector(".row-chosen", {state: "detached"});
	});
	await day.check("the head's box and Ctrl+A choose all that is filtered",
	    async () => {
		await page.click(".choice label:has(input[value=A])");
		const {pagination: {total}} = await grid("gamme=A&limit=1");

		await totalIs(page, total);
		await page.click(".ag-header .tick");
		await chosenIs(page, total);
		await page.click(".ag-header .tick");
		await page.waitForSelector(".row-chosen", {state: "detached"});
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await chosenIs(page, total);
		await page.keyboard.press("Escape");
		await page.keyboard.press("B");
		await page.click("dialog footer .primary");
		await page.waitForSelector(".notice .link");
		await saveSays(page,
		    `Enregistrer (${total} choisis sur ${total})`);
		await page.click(".notice .link");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		await page.click(".counts .link");
		await page.click(".choice label:has(input[value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("Save and Cancel are about what the filters show",
	    async () => {
		const {data: [one]} = await grid("gamme=A&limit=1&fields=codein");
		const {data: [two]} = await grid("gamme=B&limit=1&fields=codein");

		await propose(one.codein, "C");
		await propose(two.codein, "C");
		await page.click(".choice label:has(input[value=A])");
		await page.reload();
		const {pagination: {total}} = await grid(
		    "gamme=A&aValider=1&limit=1");

		await saveSays(page, `Enregistrer (${total} ${total < 2 ? "affiché" :
		    "affichés"} sur ${
		    await pendingNow()})`);
		await page.click(".foot .primary");
		await page.waitForFunction((n) => document.querySelector(
		    "dialog .widen")?.textContent.includes(`(${n})`),
		await pendingNow());
		await day.shot("save-shown");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal((await product(one.codein)).codeGamme, "C");
		assert.equal((await product(two.codein)).gammeAValider, "C");
		await page.click(".choice label:has(input[value=''])");
		await saveSays(page,
		    `Tout enregistrer (${await pendingNow()})`);
	});
	await day.check("an edit back to the recorded range says it rejects",
	    async () => {
		await totalIs(page, ROWS);
		await rowsDrawn(page);
		const codein = await codeAt(page, 3);
		const {codeGamme} = await product(codein);

		await propose(codein, another(codeGamme));
		await page.reload();
		await rowsDrawn(page);
		await page.waitForSelector(
		    '.ag-row[row-index="3"] .proposal');
		await cell(page, 3, "libelle1").click();
		await page.keyboard.press(codeGamme);
		await tick(page, 3);
		await page.click(".foot .primary");
		await page.waitForFunction(() => /sera rejetée : la gamme en place/
		    .test(document.querySelector("dialog .parts")?.textContent));
		assert.equal(await page.locator("dialog .parts li").count(), 1);
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		const now = await product(codein);

		assert.equal(now.codeGamme, codeGamme);
		assert.equal(now.gammeAValider, null);
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}
