/* elsewhere: what a buyer did here is there on another computer. */
import assert from "node:assert/strict";
import {another, cell, codeAt, linesAre, lookAgain, mineAt, open, product,
    rowsDrawn} from "./kit.mjs";

export async function elsewhere(day, browser) {
	const page = day.page = await open(browser);
	const codes = [await codeAt(page, 0), await codeAt(page, 1)];
	const now = await Promise.all(codes.map(product));
	const wanted = now.map(({codeGamme}) => another(codeGamme));
	let other;

	await day.check("an edit is there on another computer", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press(wanted[0]);
		await linesAre(page, 1);
		other = await open(browser, {keep: true});
		await mineAt(other, 0, wanted[0]);
	});
	await day.check("edits of both computers come together", async () => {
		await other.context().setOffline(true);
		await cell(other, 1, "libelle1").click();
		await other.keyboard.press(wanted[1]);
		await cell(page, 2, "libelle1").click();
		await page.keyboard.press(another(
		    (await product(await codeAt(page, 2))).codeGamme));
		await linesAre(page, 2);
		await other.context().setOffline(false);
		await linesAre(page, 3);
		await lookAgain(page);
		await mineAt(page, 1, wanted[1]);
		await mineAt(other, 0, wanted[0]);
	});
	await day.check("what is saved here is no edit there any more",
	    async () => {
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		await linesAre(page, 0);
		await lookAgain(other);
		await mineAt(other, 0, null);
		await mineAt(other, 1, null);
		for (const [i, codein] of codes.entries())
			assert.equal((await product(codein)).codeGamme, wanted[i]);
		await rowsDrawn(other);
		assert.deepEqual([...page.problems, ...other.problems], []);
	});
	await other?.context().close();
	await page.context().close();
}
