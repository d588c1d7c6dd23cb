/*
 * signs: + and - answer a proposal by one key, whatever the buyer presses before
 * the server has answered.
 */
import assert from "node:assert/strict";
import {another, articleAt, cell, codeAt, hold, lookAgain, mineAt, open, product,
    propose, rejectAt, ROWS, saveRow, setRow, tick, totalIs, until, untick} from
    "./kit.mjs";

const gone = (page) => page.waitForSelector("dialog", {state: "detached"});

const says = (page, words) => page.waitForFunction((text) =>
    document.querySelector(".notice[data-about=ranges]")?.textContent
	.includes(text), words);

const rangeIs = (codein, gamme) => until(async () =>
    (await product(codein)).codeGamme === gamme);

/* A key that answers a proposal comes before the page knows of it. */
async function late(day, page) {
	await day.check("+ and - wait for the proposal of a row to validate",
	    async () => {
		const taken = await articleAt(page, 0);
		const refused = await articleAt(page, 1);
		const late = await hold(page, "**/app/pending?*");

		for (const {codein, wanted} of [taken, refused])
			await propose(codein, wanted);
		await page.locator(".choice input[name=show][value=pending]")
		    .check({force: true});
		for (const [key, {codein}] of [["+", taken], ["-", refused]]) {
			await page.locator(`.ag-row[row-id="${codein}"] ` +
			    "[col-id=libelle1]").click();
			await page.keyboard.press(key);
			await says(page, "Chargement de la proposition");
		}
		await late.holds(2);
		await late.letGo();
		/* The two are sent in any order. */
		await rangeIs(taken.codein, taken.wanted);
		await until(async () => (await product(refused.codein))
		    .gammeAValider === null);
		assert.equal((await product(refused.codein)).codeGamme,
		    refused.codeGamme);
		await page.locator(".choice input[name=show][value='']")
		    .check({force: true});
		await totalIs(page, ROWS);
	});
	await day.check("a proposal that has just come is shown before it is taken",
	    async () => {
		const {codein, codeGamme, wanted} = await articleAt(page, 2);

		await cell(page, 2, "libelle1").click();
		await page.keyboard.press("+");
		await says(page, "Aucune proposition");
		await propose(codein, wanted);
		await page.keyboard.press("+");
		await says(page, `La proposition ${wanted} vient d'arriver`);
		assert.equal((await product(codein)).codeGamme, codeGamme);
		await setRow(page, 2, another(codeGamme, wanted));
		await page.keyboard.press("+");
		await says(page, `couvre la proposition ${wanted}`);
		await page.keyboard.press("Delete");
		await page.keyboard.press("+");
		await rangeIs(codein, wanted);
		await says(page, "validée");
	});
}

const proposalAt = (page, row) => cell(page, row, "codeGamme")
    .locator(".proposal");

/* A proposal of before is not taken for the one that comes. */
async function proposeAt(page, row) {
	const one = await articleAt(page, row);

	await proposalAt(page, row).waitFor({state: "detached"});
	await propose(one.codein, one.wanted);
	return one;
}

/* The row at the top, with a proposal that the page shows. */
async function proposedRow(page) {
	const one = await proposeAt(page, 0);

	await lookAgain(page);
	await proposalAt(page, 0).waitFor();
	await cell(page, 0, "libelle1").click();
	return one;
}

const windows = (page) => page.locator("dialog[open]").count();

/* The buyer's next key comes before the answer to the one before. */
async function keysAfterSigns(day, page) {
	for (const [key, then, path, words] of [
		["+", "-", "**/app/save", "déjà validée"],
		["-", "+", "**/app/cancel", "déjà rejetée"]])
		await day.check(`${then} at once after ${key} waits for its answer`,
		    async () => {
			const {codein, codeGamme, wanted} =
			    await proposedRow(page);
			const late = await hold(page, path);

			await page.keyboard.press(key);
			await page.keyboard.press(then);
			await late.holds(1);
			await late.letGo();
			await says(page, words);
			assert.equal(await windows(page), 0);
			const now = await product(codein);

			assert.equal(now.codeGamme,
			    key === "+" ? wanted : codeGamme);
			assert.equal(now.gammeAValider, null);
		});
	await day.check("Ctrl+Z at once after - takes the rejection back",
	    async () => {
		const {wanted} = await proposedRow(page);
		const late = await hold(page, "**/app/cancel");

		await page.keyboard.press("-");
		await page.keyboard.press("Control+z");
		await late.holds(1);
		await late.letGo();
		await says(page, "Défait à l'écran");
		await mineAt(page, 0, wanted);
		await page.keyboard.press("Delete");
		await mineAt(page, 0, null);
	});
	await day.check("two decisions: the last is undone first, though answered first",
	    async () => {
		const rows = [await proposeAt(page, 0), await proposeAt(page, 1)];

		await lookAgain(page);
		for (const row of [0, 1])
			await proposalAt(page, row).waitFor();
		await cell(page, 0, "libelle1").click();
		const late = await hold(page, "**/app/cancel", (request) =>
		    request.postData().includes(rows[0].codein));

		for (const key of ["-", "ArrowDown", "-"])
			await page.keyboard.press(key);
		await late.holds(1);
		await says(page, `rejetée pour ${rows[1].codein}`);
		await late.letGo();
		for (const row of [1, 0]) {
			await page.keyboard.press("Control+z");
			await mineAt(page, row, rows[row].wanted);
		}
		for (const row of [1, 0]) {
			await cell(page, row, "libelle1").click();
			await page.keyboard.press("Delete");
			await mineAt(page, row, null);
		}
	});
	await day.check("a range set while + is answered is saved like any other",
	    async () => {
		const {codein, codeGamme, wanted} = await proposedRow(page);
		const then = another(codeGamme, wanted);
		const late = await hold(page, "**/app/save");

		await page.keyboard.press("+");
		await page.keyboard.press(then);
		await late.holds(1);
		await late.letGo();
		await rangeIs(codein, wanted);
		await mineAt(page, 0, then);
		await says(page, "validée");
		await saveRow(page, 0);
		await gone(page);
		await says(page, "1 gamme enregistrée");
		assert.equal((await product(codein)).codeGamme, then);
	});
	await day.check("Ctrl+S at once after - leaves out what it rejects",
	    async () => {
		const {codein} = await proposedRow(page);
		const next = another((await product(await codeAt(page, 1)))
		    .codeGamme);

		await setRow(page, 1, next);
		await cell(page, 0, "libelle1").click();
		const late = await hold(page, "**/app/cancel");

		await page.keyboard.press("-");
		await page.keyboard.press("Control+s");
		await late.holds(1);
		await late.letGo();
		await page.waitForSelector("dialog[open]");
		assert.match(await page.textContent("dialog h2"), /1 gamme/);
		await page.keyboard.press("Escape");
		await page.keyboard.press("Control+z");
		assert.equal((await product(codein)).gammeAValider, null);
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Delete");
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Delete");
		await page.waitForFunction(() => document.querySelector(
		    ".foot .counts").textContent === "");
	});
}

async function lateConflict(day, page) {
	await day.check("a late conflict takes no key, and is told with a button",
	    async () => {
		const {codein, codeGamme, wanted} = await proposedRow(page);
		const theirs = another(codeGamme, wanted);
		const next = another((await product(await codeAt(page, 1)))
		    .codeGamme);

		await propose(codein, theirs);
		const late = await hold(page, "**/app/save");

		await page.keyboard.press("+");
		await late.holds(1);
		await page.keyboard.press("ArrowDown");
		await late.letGo();
		await page.locator(".notice.error").filter(
		    {hasText: "plus rapide"}).waitFor();
		assert.equal(await windows(page), 0);
		await page.keyboard.press(next);
		await mineAt(page, 1, next);
		await page.keyboard.press("Delete");
		await mineAt(page, 1, null);
		await page.locator(".notice.error .link").click();
		await page.waitForSelector("dialog .conflicts");
		assert.match(await page.textContent("dialog .conflicts"),
		    new RegExp(theirs));
		await page.keyboard.press("Escape");
		await gone(page);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("-");
		await says(page, "rejetée");
	});
}

const show = (page, which) => page.locator(
    `.choice input[name=show][value='${which}']`).check({force: true});

/* The first rows, each with a proposal that the page shows. */
async function proposedRows(page, count) {
	const rows = [];

	for (let row = 0; row < count; row++)
		rows.push(await proposeAt(page, row));
	await lookAgain(page);
	for (let row = 0; row < count; row++)
		await proposalAt(page, row).waitFor();
	return rows;
}

const isRejected = ({codein, codeGamme}) => until(async () => {
	const now = await product(codein);

	return now.codeGamme === codeGamme && now.gammeAValider === null;
});

/* As fast as keys can be typed, and slower than the answers, but for the list. */
async function listByKeys(day, page) {
	await day.check("+ + - decide three rows of the list, each its own",
	    async () => {
		const rows = await proposedRows(page, 4);

		await show(page, "pending");
		await totalIs(page, 4);
		await cell(page, 0, "libelle1").click();
		const late = await hold(page, "**/app/save");

		for (const key of ["+", "+", "-"])
			await page.keyboard.press(key);
		await late.holds(2);
		await late.letGo();
		for (const {codein, wanted} of rows.slice(0, 2))
			await rangeIs(codein, wanted);
		await isRejected(rows[2]);
		await totalIs(page, 1);
		await until(() => page.evaluate((code) => document.activeElement
		    .closest(".ag-row")?.getAttribute("row-id") === code,
		rows[3].codein));
		await page.keyboard.press("-");
		await isRejected(rows[3]);
		await totalIs(page, 0);
		await show(page, "");
		await totalIs(page, ROWS);
	});
	await day.check("a key on a decided row that is still in sight takes the next",
	    async () => {
		const rows = await proposedRows(page, 2);

		await show(page, "pending");
		await totalIs(page, 2);
		await cell(page, 0, "libelle1").click();
		const late = await hold(page, "**/api/v1/grid?*");

		await page.keyboard.press("+");
		await says(page, `validée pour ${rows[0].codein}`);
		await page.keyboard.press("-");
		await says(page, `rejetée pour ${rows[1].codein}`);
		await page.keyboard.press("-");
		await says(page, "Plus aucune proposition");
		await late.letGo();
		await rangeIs(rows[0].codein, rows[0].wanted);
		await isRejected(rows[1]);
		await totalIs(page, 0);
		await show(page, "");
		await totalIs(page, ROWS);
	});
}

async function signsOfChosen(day, page) {
	await day.check("+ accepts all selected rows, - a block; each undone at once",
	    async () => {
		const rows = await proposedRows(page, 3);

		for (const row of [0, 1])
			await tick(page, row);
		await cell(page, 2, "libelle1").click();
		await page.keyboard.press("+");
		await says(page, "2 propositions validées");
		for (const {codein, wanted} of rows.slice(0, 2))
			await rangeIs(codein, wanted);
		assert.equal((await product(rows[2].codein)).gammeAValider,
		    rows[2].wanted);
		await page.keyboard.press("Control+z");
		for (const row of [0, 1])
			await mineAt(page, row, rows[row].codeGamme);
		await page.keyboard.press("Control+y");
		await mineAt(page, 0, null);
		await rejectAt(page, rows[2].codein);
		const again = await proposedRows(page, 2);

		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Shift+ArrowDown");
		await page.keyboard.press("-");
		await says(page, "2 propositions rejetées");
		for (const one of again)
			await isRejected(one);
		await tick(page, 0);
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("+");
		await says(page, "Aucune proposition n'attend aux lignes choisies");
		await untick(page, 0);
	});
}

export async function signs(day, browser) {
	const page = day.page = await open(browser);

	await late(day, page);
	await keysAfterSigns(day, page);
	await listByKeys(day, page);
	await signsOfChosen(day, page);
	await lateConflict(day, page);
	await day.check("the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
