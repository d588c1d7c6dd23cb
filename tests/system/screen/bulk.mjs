/* bulk: ranges of many rows in one act, pasted and filled, and taken back. */
import assert from "node:assert/strict";
import {another, cell, codeAt, grid, open, product, propose, rejectAt, ROWS,
    rowsDrawn, totalIs, until} from "./kit.mjs";

const plainText = (text) => text.replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1");

const partsIn = async (page) => (await page.locator("dialog .parts li")
    .allTextContents()).map(plainText);

/* How many the window says will get another range. */
const changing = async (page) => (await partsIn(page))
    .filter((text) => /quitte|avai/.test(text))
    .reduce((sum, text) => sum + parseInt(text, 10), 0);

const minesAre = (page, count) => page.waitForFunction((n) => {
	const text = document.querySelector(".foot .counts").textContent
	    .replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1");
	const found = /(\d+) modification/.exec(text);

	return Number(found?.[1] ?? 0) === n;
}, count);

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

/* As Ctrl+V does; the browser's own clipboard is another check's. */
const paste = (page, text) => page.evaluate((words) => {
	const data = new DataTransfer();

	data.setData("text/plain", words);
	document.activeElement.dispatchEvent(new ClipboardEvent("paste",
	    {clipboardData: data, bubbles: true, cancelable: true}));
}, text);

const rangesIn = (page, rows) => Promise.all(rows.map((row) =>
    cell(page, row, "codeGamme").locator(".gamme").last().textContent()));

async function all(day, page) {
	await day.check("all that is filtered, one range, counted before",
	    async () => {
		await page.click(".choice label:has(input[value=A])");
		const total = await countOf("gamme=A");

		await totalIs(page, total);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await page.waitForFunction(() =>
		    document.querySelector(".ag-header .tick").checked);
		await page.keyboard.press("z");
		await page.waitForSelector("dialog .parts");
		assert.equal(await changing(page), total);
		await day.axe("set-many");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		await minesAre(page, total);
		assert.equal(await countOf("gamme=A"), total);
	});
	await day.check("My edits are the same rows, in the API's order",
	    async () => {
		const {data} = await grid(
		    "gamme=A&sort=totalCa&order=asc&fields=codein&limit=5");

		await page.click("fieldset:nth-of-type(2) " +
		    "label:has(input[value=mine])");
		await totalIs(page, await countOf("gamme=A"));
		await page.click(".ag-header-cell[col-id=totalCa] " +
		    ".ag-header-cell-label");
		await page.click(".ag-header-cell[col-id=totalCa] " +
		    ".ag-header-cell-label");
		await page.waitForFunction((text) => document.querySelector(
		    '.ag-row[row-index="0"] [col-id=codein]')?.textContent ===
		    text, data[0].codein);
		for (const [i, {codein}] of data.entries())
			assert.equal(await codeAt(page, i), codein);
	});
	await day.check("a reload keeps them all; one undo takes them all back",
	    async () => {
		const total = await countOf("gamme=A");

		await page.reload();
		await rowsDrawn(page);
		await minesAre(page, total);
		await page.click(".ag-header .tick");
		await page.waitForFunction(() =>
		    document.querySelector(".ag-header .tick").checked);
		await page.locator(".set-chosen button").nth(1).click();
		await page.waitForSelector("dialog .parts");
		assert.equal(await changing(page), total);
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		await page.waitForFunction(() => document.querySelector(
		    '.ag-row[row-index="0"] .gamme.mine')?.textContent === "B");
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+z");
		await page.waitForFunction(() => document.querySelector(
		    '.ag-row[row-index="0"] .gamme.mine')?.textContent === "Z");
		await page.keyboard.press("Control+y");
		await page.waitForFunction(() => document.querySelector(
		    '.ag-row[row-index="0"] .gamme.mine')?.textContent === "B");
		await page.keyboard.press("Delete");
		await page.waitForSelector("dialog .parts");
		await page.click("dialog footer .primary");
		await minesAre(page, 0);
		await page.click(".counts .link");
		await page.click(".choice label:has(input[name=show][value=''])");
		await page.click(".choice label:has(input[name=gamme][value=''])");
		await totalIs(page, ROWS);
	});
}

async function filling(day, page) {
	await day.check("Ctrl+D takes the range above, and fills a block",
	    async () => {
		const first = await product(await codeAt(page, 0));
		const mine = another(first.codeGamme);

		await cell(page, 0, "codeGamme").click();
		await page.keyboard.press(mine);
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Control+d");
		await page.waitForFunction((text) => document.querySelector(
		    '.ag-row[row-index="1"] [col-id=codeGamme]')
		    ?.textContent.endsWith(text), mine);
		await cell(page, 0, "codeGamme").click();
		for (let i = 0; i < 4; i++)
			await page.keyboard.press("Shift+ArrowDown");
		assert.equal(await page.locator(".in-block").count(), 5);
		await page.keyboard.press("Control+d");
		await page.waitForFunction((text) => document.querySelector(
		    '.ag-row[row-index="4"] [col-id=codeGamme]')
		    ?.textContent.endsWith(text), mine);
		assert.deepEqual(await rangesIn(page, [0, 1, 2, 3, 4]),
		    Array(5).fill(mine));
		await page.keyboard.press("Delete");
		await minesAre(page, 0);
	});
	await day.check("ranges pasted from a sheet's column go down the rows",
	    async () => {
		const wanted = ["A", "B", "C", "Y", "Z", "A"];

		await cell(page, 2, "codeGamme").click();
		await paste(page, wanted.join("\r\n") + "\r\n");
		await page.waitForSelector("dialog .parts");
		await day.shot("paste-column");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.deepEqual(await rangesIn(page, [2, 3, 4, 5, 6, 7]), wanted);
		await page.keyboard.press("Control+z");
		await minesAre(page, 0);
	});
	await day.check("pasted codes with ranges find their articles anywhere",
	    async () => {
		const {data: rows} = await grid("page=20&limit=3" +
		    "&fields=codein,gtin,codeGamme&gtin=is.not_null");
		const wanted = rows.map(({codeGamme}) => another(codeGamme));

		await paste(page, [["Code", "Libellé", "Gamme"],
		    [rows[0].codein, "x", wanted[0]],
		    [rows[1].gtin, "y", wanted[1].toLowerCase()],
		    ["no-such-code", "z", "A"], [rows[2].codein, "", wanted[2]]]
		    .map((cells) => cells.join("\t")).join("\n"));
		await page.waitForSelector("dialog .parts");
		assert.match((await partsIn(page)).join("; "),
		    /1 code que ce fournisseur n'a pas : no-such-code/);
		await day.axe("paste-codes");
		await page.click("dialog footer .primary");
		await minesAre(page, 3);
		await page.click(".foot .primary");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		for (const [i, {codein}] of rows.entries())
			assert.equal((await product(codein)).codeGamme, wanted[i]);
	});
	await day.check("an article pasted with two ranges is named, and left out",
	    async () => {
		const {data: rows} = await grid("page=21&limit=3" +
		    "&fields=codein,gtin,codeGamme&gtin=is.not_null");
		const wanted = rows.map(({codeGamme}) => another(codeGamme));
		const two = [wanted[0], another(rows[0].codeGamme, wanted[0])];

		await cell(page, 2, "codeGamme").click();
		await paste(page, [["Code", "Gamme"], [rows[0].codein, two[0]],
		    [rows[1].codein, wanted[1]], [rows[0].gtin, two[1]],
		    [rows[1].gtin, wanted[1]], [rows[2].codein, wanted[2]]]
		    .map((cells) => cells.join("\t")).join("\n"));
		await page.waitForSelector("dialog .parts");
		assert.match(await page.textContent("dialog h2"), /Coller 2/);
		assert.equal(await changing(page), 2);
		assert.match((await partsIn(page)).join("; "), new RegExp(
		    `1 article a plusieurs gammes .* : ${rows[0].codein} ` +
		    `${two[0]} / ${two[1]}`));
		await page.click("dialog footer .primary");
		await minesAre(page, 2);
		await page.waitForFunction(() => /2 gammes changées/.test(
		    document.querySelector(".notices")?.textContent));
		await cell(page, 2, "codeGamme").click();
		await page.keyboard.press("Control+z");
		await minesAre(page, 0);
	});
	await day.check("what holds no range is told, and changes nothing",
	    async () => {
		await cell(page, 2, "codeGamme").click();
		await paste(page, "bonjour\nmonde");
		await page.waitForFunction(() => /aucune gamme/.test(
		    document.querySelector(".notices")?.textContent));
		await minesAre(page, 0);
	});
}

const clipboard = (page, type) => page.evaluate(async (wanted) => {
	const [item] = await navigator.clipboard.read();

	return (await item.getType(wanted)).text();
}, type);

async function copying(day, page) {
	await day.check("a block is copied as a spreadsheet takes it",
	    async () => {
		const names = ["codein", "libelle1"];
		const {data} = await grid(
		    `sort=totalCa&order=asc&limit=3&fields=${names}`);

		await page.context().grantPermissions(
		    ["clipboard-read", "clipboard-write"]);
		await cell(page, 0, "codein").click();
		await page.keyboard.press("Shift+ArrowRight");
		await page.keyboard.press("Shift+ArrowDown");
		await page.keyboard.press("Shift+ArrowDown");
		await day.shot("block");
		await page.keyboard.press("Control+c");
		await page.waitForFunction(() => /6 cellules/.test(
		    document.querySelector(".notices")?.textContent));
		assert.equal(await clipboard(page, "text/plain"), data.map((row) =>
		    names.map((name) => row[name]).join("\t")).join("\n"));
		assert.match(await clipboard(page, "text/html"), new RegExp(
		    `<td[^>]*>${data[2].codein}</td>`));
	});
	await day.check("rows that are chosen are copied whole, loaded or not",
	    async () => {
		const {data} = await grid("gamme=B&sort=totalCa&order=asc" +
		    "&fields=codein");

		await page.click(".choice label:has(input[value=B])");
		await totalIs(page, data.length);
		await page.click(".ag-header .tick");
		await page.waitForFunction(() =>
		    document.querySelector(".ag-header .tick").checked);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+c");
		await page.waitForFunction(() => /lignes copiées/.test(
		    document.querySelector(".notices")?.textContent));
		const lines = (await clipboard(page, "text/plain")).split("\n");

		assert.match(lines[0], /^Code article\tLibellé\t/);
		/* A label may have a line end in it: the row goes on. */
		const codes = new Set(data.map(({codein}) => codein));

		assert.deepEqual(lines.map((line) => line.split("\t")[0])
		    .filter((code) => codes.has(code)), [...codes]);
		await page.click(".counts .link");
		await page.click(".choice label:has(input[name=gamme][value=''])");
		await totalIs(page, ROWS);
	});
}

async function copyingWaiting(day, page) {
	await day.check("the author of a proposal is copied with its row",
	    async () => {
		const {data: [row]} = await grid("sort=totalCa&limit=1");

		await propose(row.codein, another(row.codeGamme));
		await page.evaluate(() => {
			localStorage["grid.columns"] = JSON.stringify(
			    [{name: "codein"}, {name: "libelle1"},
				{name: "proposeePar"}]);
		});
		await page.reload();
		await rowsDrawn(page);
		const at = page.locator(`[row-id="${row.codein}"] ` +
		    "[col-id=proposeePar]");

		await at.filter({hasText: "agent-gammes"}).click();
		await page.keyboard.press("Control+c");
		await until(async () => await clipboard(page, "text/plain") ===
		    "agent-gammes");
		await rejectAt(page, row.codein);
	});
}

export async function bulk(day, browser) {
	const page = day.page = await open(browser);

	await all(day, page);
	await filling(day, page);
	await copying(day, page);
	await copyingWaiting(day, page);
	await day.check("and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
