/* ranges: proposals, own edits, Save and Cancel, and who was faster. */
import assert from "node:assert/strict";
import {another, api, cell, codeAt, grid, host, lookAgain, product, propose, rowsDrawn, SUPPLIER,
    tick, totalIs, ROWS} from "./kit.mjs";

const exported = () => host("ctl", "gammes", "export");

async function answer(page, button) {
	await page.click(`dialog footer ${button}`);
	await page.waitForSelector("dialog", {state: "detached"});
	await rowsDrawn(page);
}

export async function ranges(day) {
	const {page} = day;
	const {data} = await grid("limit=5&fields=codein");
	const codes = data.map(({codein}) => codein);
	const before = await Promise.all(codes.map(product));
	const wanted = before.map(({codeGamme}) => another(codeGamme));
	const show = (value) => page.click("fieldset:nth-of-type(2) " +
	    `label:has(input[value='${value}'])`);

	await day.check("a script's proposals appear with badge, author, time",
	    async () => {
		const {status} = await api("POST", "/api/v1/gammes",
		    {fournisseur: SUPPLIER, changes: [0, 1, 2].map((i) =>
			({codein: codes[i], gamme: wanted[i]}))});

		assert.equal(status, 200);
		await lookAgain(page);
		await page.waitForFunction(() =>
		    document.querySelectorAll(".proposal .badge").length === 3);
		assert.match(await page.getAttribute(".proposal", "title"),
		    /agent-gammes, .*\d{4}/);
		assert.match(await page.textContent(".foot .counts"),
		    /3 propositions/);
	});
	await day.check("a letter sets a range, Ctrl+Z takes it back",
	    async () => {
		await cell(page, 3, "libelle1").click();
		await page.keyboard.press(wanted[3].toLowerCase());
		await page.waitForSelector(".gamme.mine");
		await page.keyboard.press("Control+z");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		await page.keyboard.press(wanted[3].toLowerCase());
		await page.waitForSelector(".gamme.mine");
		assert.equal((await product(codes[3])).codeGamme,
		    before[3].codeGamme);
		await day.axe("ranges");
	});
	await day.check("the filters To validate and My edits", async () => {
		await show("pending");
		await totalIs(page, 3);
		await day.axe("to-validate");
		await show("mine");
		await totalIs(page, 1);
		assert.equal(await codeAt(page, 0), codes[3]);
		await day.shot("my-edits");
		await show("");
		await totalIs(page, ROWS);
	});
	await day.check("Save one of the selection: the others wait",
	    async () => {
		await tick(page, 0);
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		assert.match(await page.textContent("dialog h2"), /1 gamme/);
		await day.axe("save");
		await answer(page, ".primary");
		assert.equal((await product(codes[0])).codeGamme, wanted[0]);
		assert.equal((await product(codes[1])).gammeAValider, wanted[1]);
		assert.equal((await product(codes[3])).codeGamme,
		    before[3].codeGamme);
		assert.match(await exported(), new RegExp(
		    `${SUPPLIER},${codes[0]},${wanted[0]}`));
		assert.equal(await cell(page, 0, "codeGamme")
		    .locator(".gamme").textContent(), wanted[0]);
	});
	await day.check("Cancel another: rejected, its range as before",
	    async () => {
		await tick(page, 1);
		await page.click(".foot button.cancel");
		await page.waitForSelector("dialog[open]");
		await day.axe("cancel");
		await answer(page, ".danger");
		const now = await product(codes[1]);

		assert.equal(now.gammeAValider, null);
		assert.equal(now.codeGamme, before[1].codeGamme);
		assert.ok(!(await exported()).includes(codes[1]));
	});
	await day.check("a decision is undone as an edit, saved like any other",
	    async () => {
		await page.locator(".notice button.link").last().click();
		await cell(page, 1, "codeGamme").locator(".gamme.mine").waitFor();
		await tick(page, 1);
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		await answer(page, ".primary");
		assert.equal((await product(codes[1])).codeGamme, wanted[1]);
	});
	await day.check("someone was faster: told, and nothing is overwritten",
	    async () => {
		const other = another(wanted[2], before[2].codeGamme);

		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		assert.match(await page.textContent("dialog h2"), /2 gammes/);
		await propose(codes[2], other);
		await page.click("dialog footer .primary");
		await page.waitForFunction(() => /quelqu'un d'autre/.test(
		    document.querySelector("dialog h2")?.textContent));
		await day.axe("conflict");
		const now = await product(codes[2]);

		assert.equal(now.codeGamme, before[2].codeGamme);
		assert.equal(now.gammeAValider, other);
		assert.equal((await product(codes[3])).codeGamme, wanted[3]);
		await page.keyboard.press("Escape");
	});
	await day.check("an edit over what someone proposed since is told, too",
	    async () => {
		const mine = another(before[4].codeGamme);
		const theirs = another(before[4].codeGamme, mine);

		await cell(page, 4, "libelle1").click();
		await page.keyboard.press(mine.toLowerCase());
		await tick(page, 4);
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		await propose(codes[4], theirs);
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog tbody td");
		assert.match(await page.textContent("dialog tbody"),
		    new RegExp(`${theirs}Proposée par agent-gammes, .*\\d{4}`));
		assert.equal((await product(codes[4])).gammeAValider, theirs);
		await page.keyboard.press("Escape");
		await page.waitForSelector(".gamme.conflict");
		await day.shot("conflict-after");
	});
	await day.check("Save for all: after having seen it, mine is saved",
	    async () => {
		const {json} = await api("GET", `/api/v1/grid?fournisseur=${
		    SUPPLIER}&aValider=1&limit=10&fields=gammeAValider`);

		assert.equal(json.pagination.total, 2);
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		await page.click("dialog summary");
		await day.axe("save-all");
		await answer(page, ".primary");
		assert.equal((await product(codes[4])).codeGamme,
		    another(before[4].codeGamme));
		assert.equal((await product(codes[4])).gammeAValider, null);
		assert.match(await page.textContent(".foot .primary"), /\(0\)/);
	});
}
