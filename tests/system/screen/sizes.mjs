/*
 * sizes: six widths, 200 % and 400 %, light and dark, French and English; each window
 * fits, and axe finds nothing serious in it.
 */
import assert from "node:assert/strict";
import {another, api, cell, grid, host, LONG, mineAt, open, ROWS, SUPPLIER, totalIs}
    from "./kit.mjs";

/* Without `short` in the long form only. */
const SIZES = [
	{name: "390", short: true, touch: true, viewport: {width: 390, height: 844}},
	{name: "768", viewport: {width: 768, height: 1024}},
	{name: "1280", viewport: {width: 1280, height: 720}},
	{name: "1440", viewport: {width: 1440, height: 900}},
	{name: "1920", short: true, viewport: {width: 1920, height: 1080}},
	{name: "2560", viewport: {width: 2560, height: 1440}},
	/* 1366 pixels at 200 %. */
	{name: "200", short: true, viewport: {width: 683, height: 384}},
	/* 1280 × 1024 pixels at 400 %, of WCAG 1.4.10: the page may scroll. */
	{name: "400", short: true, viewport: {width: 320, height: 256}, rows: 3},
].filter(({short}) => LONG || short);

/* What opens the windows. */
const WINDOWS = {
	filter: ".filters button.quiet", columns: ".filters .columns",
	inbox: ".top .inbox", summary: ".filters .summary",
	views: ".filters .views", export: ".filters .export",
	settings: "header.top button.user",
};

/* Words of the open window that its edge cuts; tables may be scrolled. */
const cutWords = (page) => page.evaluate(() => {
	const window = [...document.querySelectorAll("dialog[open]")].at(-1);
	const {left, right} = window.getBoundingClientRect();

	return [...window.querySelectorAll("h2, h3, p, legend, label, button, " +
	    "input, select")].filter((node) => !node.closest("table") &&
	    !node.closest(".choice input") && node.offsetParent !== null &&
	    getComputedStyle(node).position !== "absolute")
	    .filter((node) => {
		const box = node.getBoundingClientRect();

		return box.left < left - 1 || box.right > right + 1;
	}).map((node) => `${node.tagName} ${node.textContent.slice(0, 40)}`);
});

/* Rows that are wholly in sight. */
const rowsInSight = (page) => page.evaluate(() => {
	const view = document.querySelector(
	    ".ag-body-vertical-scroll-viewport").getBoundingClientRect();

	return [...document.querySelectorAll("#articles .ag-row")]
	    .map((row) => row.getBoundingClientRect())
	    .filter(({top, bottom}) => top >= view.top - 1 &&
		bottom <= Math.min(view.bottom, innerHeight) + 1).length;
});

const scrollsSideways = (page) => page.evaluate(() =>
    document.documentElement.scrollWidth > innerWidth);

/*
 * How much longer a hint is than the field that it stands in, in pixels. The field
 * keeps some for the cross that empties it.
 */
const hintIsCut = (page) => page.evaluate(() => {
	const input = document.querySelector(".search-box input");
	const style = getComputedStyle(input);
	const pen = document.createElement("canvas").getContext("2d");

	/* A field with room for its sign alone has no hint. */
	if (getComputedStyle(input, "::placeholder").color.endsWith(", 0)"))
		return 0;
	pen.font = style.font;
	return pen.measureText(input.placeholder).width -
	    (input.clientWidth - parseFloat(style.paddingLeft) -
		parseFloat(style.paddingRight) - 20);
});

/* What of `selector` a notice covers. */
const covered = (page, selector) => page.evaluate((words) => {
	const note = document.querySelector(".notice").getBoundingClientRect();

	return [...document.querySelectorAll(words)]
	    .map((one) => [one, one.getBoundingClientRect()])
	    .filter(([, box]) => box.width > 0 && box.left < note.right &&
		box.right > note.left && box.top < note.bottom &&
		box.bottom > note.top).map(([one]) => one.textContent);
}, selector);

/* Some key tells that there is nothing to undo, in a notice. */
async function notices(page) {
	await cell(page, 0, "codeGamme").click();
	for (let i = 0; i < 2; i++)
		await page.keyboard.press("Control+z");
	await page.waitForSelector(".notice");
	assert.deepEqual(await covered(page, ".foot > *"), []);
	await page.click(WINDOWS.columns);
	await windowsAre(page, 1);
	await page.waitForSelector("dialog .notice");
	assert.deepEqual(await covered(page,
	    "dialog footer button, dialog header *"), []);
	await page.click("dialog .notice button");
	await page.keyboard.press("Escape");
	await windowsAre(page, 0);
}

/* A range by a key, at the last row that is in sight. */
async function works(page, row) {
	const had = await page.locator(".notice button").count();

	assert.equal(had, 0);
	await cell(page, row, "codeGamme").click();
	await page.keyboard.press("Z");
	await page.keyboard.press("Y");
	await mineAt(page, row, "Y");
	await page.keyboard.press("Delete");
	await mineAt(page, row, null);
}

/* The newest window has come in full, and nothing of it lies aside. */
async function fits(day, which) {
	const {page} = day;

	await page.waitForFunction(() => [...document.querySelectorAll(
	    "dialog[open] .dialog-body")].at(-1)?.textContent.includes("…") ===
		false);
	assert.deepEqual(await cutWords(page), [], which);
	assert.ok(await page.evaluate(() => {
		const body = [...document.querySelectorAll(
		    "dialog[open] .dialog-body")].at(-1);

		return body.scrollWidth <= body.clientWidth;
	}), `${which} scrolls sideways`);
	await day.axeInTheme(which);
}

async function windowsAre(page, count) {
	await page.waitForFunction((n) =>
	    document.querySelectorAll("dialog[open]").length === n, count);
}

/* Those of the users, over the settings; claire is an administrator. */
async function users(day, page, name) {
	await page.locator("dialog section.row button")
	    .filter({hasText: /Utilisateurs|Users/}).click();
	await page.locator("table.users button").first().waitFor();
	await fits(day, "users");
	await day.shot(`size-${name}-users`);
	await page.locator("table.users button").first().click();
	await windowsAre(page, 3);
	await fits(day, "a user");
	await day.shot(`size-${name}-user`);
	await page.keyboard.press("Escape");
	await windowsAre(page, 2);
	await page.keyboard.press("Escape");
	await windowsAre(page, 1);
}

async function windows(day, page, name) {
	for (const [which, opener] of Object.entries(WINDOWS)) {
		await page.click(opener);
		await windowsAre(page, 1);
		await fits(day, which);
		if (which === "settings") {
			await day.shot(`size-${name}-settings`);
			await users(day, page, name);
		}
		await page.keyboard.press("Escape");
		await windowsAre(page, 0);
	}
}

/* The list of suppliers is wholly in sight, and the page stays where it is. */
async function suppliers(day, page, name) {
	await page.click("button.supplier");
	await page.locator(".popup li").nth(3).waitFor();
	const {left, right, moved} = await page.evaluate(() => {
		const {left, right} = document.querySelector(".popup")
		    .getBoundingClientRect();

		return {left, right, moved: scrollX};
	});

	assert.ok(left >= 0 && right <= page.viewportSize().width && moved === 0,
	    `suppliers from ${left} to ${right}`);
	assert.ok(!await scrollsSideways(page));
	await day.shot(`size-${name}-suppliers`);
	await day.axeInTheme("suppliers");
	await page.keyboard.press("Escape");
}

/* Save and Cancel stand beside one another, whatever the bar has to say. */
async function together(page) {
	await totalIs(page, ROWS);
	await cell(page, 0, "codeGamme").click();
	await page.keyboard.press("Control+a");
	await page.waitForSelector(".foot.with-chosen .set-chosen");
	const tops = await page.locator(".foot .primary, .foot .cancel")
	    .evaluateAll((all) => all.map((one) =>
		one.getBoundingClientRect().top));

	assert.equal(tops.length, 2);
	assert.equal(tops[0], tops[1]);
	await page.click(".counts .link");
	await page.waitForSelector(".foot.with-chosen", {state: "detached"});
}

/* Words that are searched for are read in their field, beside its link. */
async function searched(page) {
	await page.fill(".search-box input", "beurre");
	await page.waitForSelector(".search-box .everywhere");
	const {room, words} = await page.evaluate(() => {
		const input = document.querySelector(".search-box input");
		const style = getComputedStyle(input);
		const pen = document.createElement("canvas").getContext("2d");

		pen.font = style.font;
		return {words: pen.measureText(input.value).width,
		    room: input.clientWidth - parseFloat(style.paddingLeft) -
			parseFloat(style.paddingRight)};
	});

	assert.ok(room > words, `${words} pixels of words in ${room}`);
	await page.fill(".search-box input", "");
	await page.waitForSelector(".search-box .everywhere", {state: "hidden"});
}

/* What tells of a lost connection covers nothing. */
async function lost(page) {
	await page.route("**/api/v1/**", (route) => route.abort());
	await page.fill(".search-box input", "lait");
	await page.waitForSelector(".connection:not([hidden])");
	await page.waitForFunction(() => document.querySelector(".top")
	    .getBoundingClientRect().top >= document.querySelector(".connection")
	    .getBoundingClientRect().bottom);
	await page.unroute("**/api/v1/**");
	/* It is asked again of its own. */
	await page.waitForSelector(".connection", {state: "hidden"});
	await totalIs(page, (await grid("search=lait&limit=1")).pagination.total);
	await page.fill(".search-box input", "");
}

/* An open article follows the window's width, charts and all. */
async function narrower(page, {width, height}) {
	await page.setViewportSize({width: Math.round(width * 0.9), height});
	await page.waitForFunction(() => {
		const {scrollWidth, clientWidth} =
		    document.querySelector(".panel-body");

		return scrollWidth <= clientWidth;
	});
	await page.setViewportSize({width, height});
}

async function article(day, page, {name, touch, viewport}) {
	await cell(page, 1, "libelle1").click();
	if (!touch)
		await page.keyboard.press("Enter");
	await page.waitForSelector(".panel .plot canvas");
	const lines = await page.locator(".key .fact dd").evaluateAll((nodes) =>
	    nodes.map((node) => node.getBoundingClientRect().height));

	assert.ok(Math.max(...lines) < 32, `a figure breaks: ${lines}`);
	await day.shot(`size-${name}-article`);
	await day.axeInTheme("the article");
	if (viewport.width > 320)
		await narrower(page, viewport);
	await page.locator(".panel-tools button").last().click();
}

async function waits() {
	const {data} = await grid("sort=totalCa&limit=3&fields=codeGamme");

	await api("POST", "/api/v1/gammes", {fournisseur: SUPPLIER,
	    changes: data.map(({codein, codeGamme}) => ({codein,
		motif: "moins vendu que le reste de la gamme",
		gamme: another(codeGamme)}))});
}

export async function sizes(day, browser) {
	await waits();
	await host("user", "béatrice.de-la-grande-motte-sous-bois");
	await host("ctl", "user", "role", "béatrice.de-la-grande-motte-sous-bois",
	    "buyer", "--suppliers", "12345,20001,20002,20003");
	for (const [i, size] of SIZES.entries()) {
		const {name, touch, viewport, rows = 5} = size;

		await day.check(`each window fits at ${name}`, async () => {
			const page = day.page = await open(browser, {viewport,
			    hasTouch: touch, locale: i % 2 ? "en-GB" : "fr-FR",
			    colorScheme: i % 2 ? "dark" : "light"});

			assert.ok(!await scrollsSideways(page));
			await day.shot(`size-${name}`);
			assert.ok(await rowsInSight(page) >= rows,
			    `${await rowsInSight(page)} rows in sight`);
			if (touch)
				assert.ok(await page.locator(".foot").evaluate(
				    ({offsetHeight}) => offsetHeight) < 100,
				"the foot has more than two lines");
			await works(page, rows - 1);
			assert.ok(await hintIsCut(page) <= 0, "the hint is cut");
			await notices(page);
			await day.axeInTheme("the grid");
			if (viewport.width >= 1920) {
				const box = await cell(page, 0, "trend")
				    .boundingBox();

				assert.ok(box.x + box.width >
				    viewport.width - 40, "white is left");
			}
			if (viewport.width > 320)
				await searched(page);
			await suppliers(day, page, name);
			await lost(page);
			await together(page);
			await windows(day, page, name);
			await article(day, page, size);
			assert.ok(!await scrollsSideways(page));
			assert.deepEqual(page.problems, []);
			await page.context().close();
		});
	}
}
