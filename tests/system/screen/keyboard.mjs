/*
 * keyboard: what a buyer does in a day, by the keyboard alone. After each key
 * the focus is on something that is in sight and marked; Escape goes back to
 * where a window was opened.
 */
import assert from "node:assert/strict";
import {another, codeAt, firstRowIs, forgetDrafts, grid, openPage, product,
    propose, ROWS, rowsDrawn, SUPPLIER, totalIs} from "./kit.mjs";

const {GRID_USER, GRID_PASSWORD} = process.env;

/*
 * What is wrong with where the focus is, "" for nothing: it is nowhere, out of
 * sight, below something else, or not marked.
 */
const wrongFocus = (page) => page.evaluate(() => {
	const at = document.activeElement;
	/* A radio button is seen by its face, a line of the tree by its words. */
	const seen = at.matches(".choice input") ? at.nextElementSibling :
	    at.matches("[role=treeitem]") ? at.firstElementChild : at;
	const {x, y, width, height} = seen.getBoundingClientRect();
	const top = document.elementFromPoint(
	    Math.min(Math.max(x + width / 2, 0), innerWidth - 1),
	    Math.min(Math.max(y + height / 2, 0), innerHeight - 1));
	const marks = [seen, seen.closest(".ag-cell"),
	    seen.closest(".ag-checkbox-input-wrapper")].filter((one) => one);
	const name = `${at.tagName} ${at.className} ${at.textContent
	    .slice(0, 30)}`;

	if (at === document.body)
		return "nowhere";
	if (x + width < 1 || y + height < 1 || x >= innerWidth ||
	    y >= innerHeight || width * height === 0)
		return `out of sight: ${name}`;
	if (!seen.contains(top) && !top?.contains(seen))
		return `below ${top?.className}: ${name}`;
	if (!marks.some((one) => getComputedStyle(one).outlineStyle !== "none" ||
	    getComputedStyle(one).boxShadow !== "none") &&
	    ["none", ""].includes(getComputedStyle(seen, "::after").borderStyle))
		return `not marked: ${name}`;
	return "";
});

/* The focus may come with an answer: it is waited for. */
async function focusIsSeen(page, key) {
	for (let tries = 0; ; tries++) {
		const wrong = await wrongFocus(page);

		if (wrong === "")
			return;
		assert.ok(tries < 100, `after ${key} the focus is ${wrong}`);
		await page.waitForTimeout(50);
	}
}

async function press(page, ...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await focusIsSeen(page, key);
	}
}

const isOn = (page, selector) => page.evaluate((one) =>
    document.activeElement.matches(one), selector);

const comesTo = (page, selector) => page.waitForFunction((one) =>
    document.activeElement.matches(one), selector);

/* By Tab, or another key, to what the selector names. */
async function reach(page, selector, key = "Tab") {
	for (let steps = 0; !await isOn(page, selector); steps++) {
		assert.ok(steps < 60, `${key} does not lead to ${selector}`);
		await press(page, key);
	}
}

const ROW = '.ag-row[row-index="0"]', FIRST = `${ROW} .ag-cell`;

const windowsAre = (page, count) => page.waitForFunction((n) =>
    document.querySelectorAll("dialog[open]").length === n, count);

/* Opens a window by a key, and Escape leaves it to where one was. */
async function thereAndBack(page, key, inside) {
	const at = await page.evaluateHandle(() => document.activeElement);

	await press(page, key);
	await windowsAre(page, 1);
	await inside?.();
	await press(page, "Escape");
	await windowsAre(page, 0);
	assert.ok(await page.evaluate((one) =>
	    document.activeElement === one, at), `${key}: not back`);
}

const minesAre = (page, count) => page.waitForFunction((n) =>
    Number(/(\d+) modification/.exec(document.querySelector(".foot .counts")
	.textContent)?.[1] ?? 0) === n, count);

async function arrives(page) {
	await reach(page, "#user");
	await page.keyboard.type(GRID_USER);
	await press(page, "Tab");
	await page.keyboard.type(GRID_PASSWORD);
	await page.keyboard.press("Enter");
	await forgetDrafts(page);
	/* At once, while all suppliers are listed, another one first. */
	await page.waitForFunction((code) => {
		const first = document.querySelector(".popup li .code");

		return first !== null && first.textContent !== code;
	}, SUPPLIER);
	await page.keyboard.type(SUPPLIER);
	await page.keyboard.press("Enter");
	await rowsDrawn(page);
	assert.equal(await page.locator("button.supplier .code").textContent(),
	    SUPPLIER);
	await comesTo(page, ".ag-cell");
	await press(page, "f", "Escape");
	await comesTo(page, "button.supplier");
	/* The second Ctrl+F is left to the browser. */
	const taken = page.evaluate(() => new Promise((resolve) => {
		const list = [];

		addEventListener("keydown", ({key, defaultPrevented}) =>
		    key === "f" && list.push(defaultPrevented) === 2 &&
			resolve(list));
	}));

	for (const key of ["/", "Control+f"]) {
		await press(page, key);
		await comesTo(page, ".search-box input");
		if (key !== "/")
			await press(page, key);
		await press(page, "Escape");
		await comesTo(page, ".ag-cell");
	}
	assert.deepEqual(await taken, [true, false]);
	/* Tab comes to the search box, where Escape leads to the rows. */
	for (const key of ["Shift+Tab", "Tab"]) {
		await press(page, "f");
		while (await isOn(page, ".supplier-box *"))
			await press(page, key);
		await page.waitForSelector(".popup.suppliers",
		    {state: "hidden"});
		await page.waitForSelector(
		    "button.supplier[aria-expanded=false]");
	}
	await press(page, "Escape");
	await comesTo(page, ".ag-cell");
}

async function finds(page) {
	const {pagination} = await grid("search=beurre&limit=1");

	await press(page, "/");
	await page.keyboard.type("beurre");
	await totalIs(page, pagination.total);
	await press(page, "Enter");
	await comesTo(page, ".ag-cell");
	await press(page, "/", "Escape");
	await totalIs(page, ROWS);
	await press(page, "Escape");
	await comesTo(page, ".ag-cell");
	/* In a head: the cursor's column, one to the right. */
	await press(page, "Shift+Tab");
	await comesTo(page, ".ag-header-cell");
	await press(page, "ArrowRight", "l");
	await windowsAre(page, 1);
	await press(page, "Escape");
	await windowsAre(page, 0);
	await comesTo(page, ".ag-header-cell");
	await press(page, "l");
	await reach(page, ".ready button");
	await press(page, "Enter");
	await windowsAre(page, 0);
	await page.waitForSelector(".chips li");
	await press(page, "Tab");
	await reach(page, ".chips button", "Shift+Tab");
	while (await page.locator(".chips li").count() > 0) {
		await reach(page, ".chips button");
		await press(page, "Enter");
	}
	await totalIs(page, ROWS);
}

async function looks(page) {
	await press(page, "/", "ArrowDown");
	await comesTo(page, ".ag-cell");
	await press(page, "ArrowDown", "Enter");
	await page.waitForSelector(".panel .range-row");
	await reach(page, ".panel *");
	await press(page, "Escape");
	await page.waitForSelector(".panel", {state: "hidden"});
	await comesTo(page, ".ag-cell");
	for (const key of ["e", "v", "g", "i", "?", "Control+g"])
		await thereAndBack(page, key);
}

const cursor = (page) => page.evaluate(() => {
	const at = document.activeElement.closest(".ag-cell");

	return `${at?.closest(".ag-row").getAttribute("row-index")} ` +
	    at?.getAttribute("col-id");
});

/* As in a spreadsheet; what a key changes is never out of sight. */
async function moves(page) {
	const [first, last] = await page.locator(
	    ".ag-header-cell[col-id]:not([col-id^=ag-])").evaluateAll((all) => {
		const names = all.sort((a, b) => a.getBoundingClientRect().x -
		    b.getBoundingClientRect().x)
		    .map((one) => one.getAttribute("col-id"));

		return [names[0], names.at(-1)];
	});

	const code = await codeAt(page, 0);

	for (const [key, at] of [["Control+Home", `0 ${first}`],
	    ["End", `0 ${last}`], ["Home", `0 ${first}`],
	    ["Control+End", `${ROWS - 1} ${last}`],
	    ["Control+Home", `0 ${first}`],
	    ["Control+ArrowDown", `${ROWS - 1} ${first}`],
	    ["Home", `${ROWS - 1} ${first}`]]) {
		await page.keyboard.press(key);
		await page.waitForFunction((where) => {
			const cell = document.activeElement.closest(".ag-cell");

			return where === `${cell?.closest(".ag-row")
			    .getAttribute("row-index")} ` +
			    cell?.getAttribute("col-id");
		}, at).catch(async () => assert.fail(
		    `${key}: ${await cursor(page)}, not ${at}`));
		await focusIsSeen(page, key);
	}
	await rowsDrawn(page);
	await page.waitForSelector(
	    '.ag-row:not(.row-waits) .ag-cell[col-id="totalCa"]');
	await page.evaluate(() => {
		document.querySelector(".ag-body-vertical-scroll-viewport")
		    .scrollTop = 0;
	});
	await firstRowIs(page, code);
	await page.keyboard.press(" ");
	await focusIsSeen(page, "a row that the wheel has left is ticked");
	await page.keyboard.press(" ");
	await press(page, "Control+Home");
}

async function decides(page) {
	const rows = await Promise.all([0, 1].map((row) => codeAt(page, row)));
	const now = await Promise.all(rows.map(product));
	const wanted = another(...now.flatMap((one) =>
	    [one.codeGamme, one.gammeAValider]));

	await press(page, "Control+Home");
	await comesTo(page, FIRST);
	await press(page, wanted.toLowerCase());
	await minesAre(page, 1);
	await press(page, "ArrowDown", "Control+d");
	await minesAre(page, 2);
	await press(page, "Control+z");
	await minesAre(page, 1);
	await press(page, "Control+y");
	await minesAre(page, 2);
	await press(page, "Control+z");
	await minesAre(page, 1);
	await thereAndBack(page, "Control+s");
	await press(page, "Control+s");
	await comesTo(page, "dialog footer .primary");
	await press(page, "Enter");
	await windowsAre(page, 0);
	await minesAre(page, 0);
	await comesTo(page, ".ag-cell");
	assert.equal((await product(rows[0])).codeGamme, wanted);
}

async function answers(page) {
	const {data} = await grid("sort=totalCa&limit=8&fields=codeGamme");
	const [taken, refused] = data.slice(6);

	for (const {codein, codeGamme} of [taken, refused])
		await propose(codein, another(codeGamme));
	await reach(page, ".choice input[name=show]", "Shift+Tab");
	await press(page, "ArrowRight");
	await totalIs(page, 2);
	await firstRowIs(page, taken.codein);
	await press(page, "/", "ArrowDown");
	await comesTo(page, ".ag-cell");
	await press(page, "Control+Home");
	await comesTo(page, FIRST);
	await press(page, "+");
	await totalIs(page, 1);
	await firstRowIs(page, refused.codein);
	await press(page, "-");
	await page.waitForSelector(".rows-state:not([hidden])");
	const now = await Promise.all([taken, refused].map(
	    async ({codein}) => (await product(codein)).codeGamme));

	assert.deepEqual(now, [another(taken.codeGamme), refused.codeGamme]);
	await focusIsSeen(page, "the last proposal");
	await reach(page, ".rows-state button");
	await press(page, "Enter");
	await totalIs(page, ROWS);
}

async function leaves(page) {
	await reach(page, "header.top button.user", "Shift+Tab");
	await thereAndBack(page, "Enter", async () => {
		await reach(page, "#key-name");
	});
	await press(page, "Enter");
	await page.waitForSelector("table.keys tbody th");
	await reach(page, "dialog section.row button:nth-of-type(2)");
	await page.keyboard.press("Enter");
	await page.waitForSelector("main.login, .login-card");
	await reach(page, "#user");
}

/* A notice stays for who reads it: WCAG 2.2.1. */
async function reads(page) {
	const shown = () => page.locator(".notice").count();

	await page.clock.install();
	await press(page, "Control+y");
	await page.locator(".notice").hover();
	await page.clock.runFor(20000);
	assert.equal(await shown(), 1);
	await page.mouse.move(10, 10);
	await reach(page, ".notice button");
	await page.clock.runFor(20000);
	assert.equal(await shown(), 1);
	await press(page, "Enter");
	assert.equal(await shown(), 0);
	await press(page, "/", "ArrowDown");
	await press(page, "Control+y");
	await page.clock.runFor(20000);
	assert.equal(await shown(), 0);
}

export async function keyboard(day, browser) {
	const page = day.page = await openPage(browser,
	    {viewport: {width: 1440, height: 900}});

	await day.check("by keys: in, to a supplier, to its rows", () =>
	    arrives(page));
	await day.check("by keys: words, a filter in a head, and off again", () =>
	    finds(page));
	await day.check("by keys: an article, each window, and back", () =>
	    looks(page));
	await day.check("by keys: to the first and the last cell", () =>
	    moves(page));
	await day.check("by keys: a range, filled down, undone, saved", () =>
	    decides(page));
	await day.check("by keys: a proposal taken, another refused", () =>
	    answers(page));
	await day.check("a notice stays while it is read", () => reads(page));
	await day.check("by keys: out again", () => leaves(page));
	await day.check("by keys: and the page complained of nothing", () =>
	    assert.deepEqual(page.problems, []));
	await page.context().close();
}
