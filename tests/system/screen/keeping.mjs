/*
 * keeping: what a buyer finds again after another supplier, F5 or a failure: what
 * can be undone, the place in the list, the focus.
 */
import assert from "node:assert/strict";
import {another, articleAt, cell, chooseSupplier, codeAt, hold, keptIs, lookAgain,
    mineAt, open, rowsDrawn, setRow, SUPPLIER, wasTold} from "./kit.mjs";

const undo = (page) => page.keyboard.press("Control+z");

async function otherAndBack(page) {
	await page.click("button.supplier");
	await page.waitForSelector(".popup li:nth-child(2) .code");
	const other = await page.locator(".popup li .code").evaluateAll(
	    (all, not) => all.map((one) => one.textContent)
		.find((code) => code !== not), SUPPLIER);

	for (const code of [other, SUPPLIER]) {
		if (code === SUPPLIER)
			await page.click("button.supplier");
		await chooseSupplier(page, code);
		await page.waitForFunction((one) =>
		    location.hash.startsWith(`#${one}`), code);
		await rowsDrawn(page);
	}
}

async function reload(page) {
	await page.reload();
	await rowsDrawn(page);
}

/* One edit over another, then `leave`: both steps can be undone and redone. */
async function steps(page, leave) {
	const {codeGamme, wanted} = await articleAt(page, 0);
	const then = another(codeGamme, wanted);

	await setRow(page, 0, wanted);
	await page.keyboard.press(then);
	await mineAt(page, 0, then);
	await leave(page);
	await mineAt(page, 0, then);
	await cell(page, 0, "libelle1").click();
	await undo(page);
	await mineAt(page, 0, wanted);
	await undo(page);
	await mineAt(page, 0, null);
	await page.keyboard.press("Control+y");
	await mineAt(page, 0, wanted);
	await undo(page);
	await mineAt(page, 0, null);
}

async function undoing(day, browser) {
	const page = day.page = await open(browser, {notes: true});

	await day.check("another supplier leaves what can be undone", () =>
	    steps(page, otherAndBack));
	await day.check("F5 leaves what can be undone", () => steps(page, reload));
	await day.check("a step is void, and says so, where another computer changed it",
	    async () => {
		const {codeGamme, codein, wanted} = await articleAt(page, 0);
		const theirs = another(codeGamme, wanted);

		await setRow(page, 0, wanted);
		await keptIs(page, (value) => value.includes(wanted));
		const other = await open(browser, {keep: true});

		await mineAt(other, 0, wanted);
		await page.goto("about:blank");
		await setRow(other, 0, theirs);
		await keptIs(other, (value) => value.startsWith(
		    `${codein}\t${theirs}`));
		await page.goBack();
		await rowsDrawn(page);
		await mineAt(page, 0, theirs);
		await cell(page, 0, "libelle1").click();
		await undo(page);
		await wasTold(page, ["Rien à défaire : ces articles ont changé"]);
		await mineAt(page, 0, theirs);
		await other.context().close();
		await page.keyboard.press("Delete");
		await mineAt(page, 0, null);
	});
	assert.deepEqual(page.problems, []);
	await page.context().close();
}

/* How many colours a row has on the screen. */
async function coloursOf(page, row) {
	const box = await row.boundingBox();
	const {width, height} = page.viewportSize();
	const png = await page.screenshot({clip: {x: box.x, y: box.y,
	    width: Math.min(box.width, width - box.x),
	    height: Math.min(box.height, height - box.y)}});

	return page.evaluate(async (text) => {
		const bytes = Uint8Array.from(atob(text),
		    (one) => one.charCodeAt(0));
		const picture = await createImageBitmap(new Blob([bytes]));
		const pen = new OffscreenCanvas(picture.width, picture.height)
		    .getContext("2d");

		pen.drawImage(picture, 0, 0);
		return new Set(new Uint32Array(pen.getImageData(0, 0,
		    picture.width, picture.height).data.buffer)).size;
	}, png.toString("base64"));
}

async function place(day, page) {
	await day.check("F5 deep in a list comes back to the same rows",
	    async () => {
		await page.evaluate(() =>
		    productGrid.grid.ensureIndexVisible(1500, "top"));
		const codein = await codeAt(page, 1503);

		await cell(page, 1503, "libelle1").click();
		await page.reload();
		assert.equal(await codeAt(page, 1503), codein);
		await page.waitForFunction(() => document.activeElement
		    .closest(".ag-row")?.getAttribute("row-index") === "1503");
		const box = await cell(page, 1503, "libelle1").boundingBox();

		assert.ok(box.y > 0 && box.y < 300, `at ${box.y}`);
		/* Other filters begin at their first row. */
		await page.click(".choice label:has(input[value=A])");
		await page.waitForSelector(
		    '.ag-row[row-index="0"]:not(.row-waits)');
		await page.reload();
		await rowsDrawn(page);
		assert.ok(await cell(page, 0, "libelle1").isVisible());
		await page.click(".choice label:has(input[name=gamme][value=''])");
	});
	await day.check("a key or two clicks on a row that still loads are answered",
	    async () => {
		await page.evaluate(() =>
		    productGrid.grid.ensureIndexVisible(0, "top"));
		await rowsDrawn(page);
		const late = await hold(page, "**/api/v1/grid?*");
		const told = page.locator(".notice").filter(
		    {hasText: "se charge encore"});
		const row = page.locator(
		    '.ag-row.row-waits[row-index="2505"]');
		const at = {position: {x: 200, y: 12}};

		/* By the scroll bar: a row that nobody needs has no cells. */
		await page.evaluate(() => {
			document.querySelector(
			    ".ag-body-vertical-scroll-viewport").scrollTop =
			    2500 * document.querySelector(".ag-row")
				.offsetHeight;
		});
		await late.holds(1);
		await row.waitFor();
		assert.equal(await page.locator(".row-waits .ag-cell").count(),
		    0);
		assert.equal(await row.getAttribute("aria-busy"), "true");
		assert.ok(await coloursOf(page, row) > 1, "it is seen to wait");
		await row.dblclick(at);
		await told.waitFor();
		await told.locator("button").click();
		await told.waitFor({state: "detached"});
		await row.click(at);
		await page.keyboard.press("B");
		await told.waitFor();
		await late.letGo();
		await codeAt(page, 2505);
		assert.equal(await page.locator("[aria-busy].ag-row:not(.row-waits)")
		    .count(), 0);
		assert.equal(await page.textContent(".foot .counts"), "");
	});
}

async function failing(day, page) {
	await day.check("a Save that fails leaves the focus on its button",
	    async () => {
		await page.evaluate(() =>
		    productGrid.grid.ensureIndexVisible(0, "top"));
		await setRow(page, 0, (await articleAt(page, 0)).wanted);
		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		await page.context().setOffline(true);
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => /on ne sait pas/.test(
		    document.querySelector("dialog .problem").textContent));
		assert.ok(await page.evaluate(() => document.activeElement
		    .matches("dialog footer .primary")));
		await page.context().setOffline(false);
		await page.keyboard.press("Escape");
		await page.waitForSelector("dialog", {state: "detached"});
		await undo(page);
		await mineAt(page, 0, null);
		await lookAgain(page);
	});
	await day.check("a field of several lines has the theme's colours",
	    async () => {
		const style = (selector) => page.evaluate((one) => {
			const {backgroundColor, borderRadius, color} =
			    getComputedStyle(document.querySelector(one));

			return {backgroundColor, borderRadius, color};
		}, selector);

		await page.click(".filters button.quiet");
		await page.selectOption("#filter-column", "gtin");
		await page.selectOption("#filter-operator", "list");
		assert.deepEqual(await style("textarea"),
		    await style("#filter-column"));
		await day.shot("textarea-dark");
		await page.keyboard.press("Escape");
	});
}

export async function keeping(day, browser) {
	await undoing(day, browser);
	const page = day.page = await open(browser, {colorScheme: "dark"});

	await place(day, page);
	await failing(day, page);
	await day.check("and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
