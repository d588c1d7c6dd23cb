/* looks: other languages, themes and windows. */
import assert from "node:assert/strict";
import {another, cell, codeAt, grid, hold, LONG, open, product, SUPPLIER} from "./kit.mjs";

/* Without `short` in the long form only. */
const LOOKS = [
	{name: "dark-english", short: true, save: /^Save all/,
	    options: {colorScheme: "dark", locale: "en-GB"}},
	{name: "tablet-landscape", save: /^Tout enregistrer/,
	    options: {viewport: {width: 1024, height: 768}, hasTouch: true,
		isMobile: true}},
	{name: "tablet-portrait", short: true, save: /^Tout enregistrer/,
	    options: {viewport: {width: 768, height: 1024}, hasTouch: true,
		isMobile: true, colorScheme: "dark"}},
	{name: "laptop", save: /^Tout enregistrer/, options: {}},
].filter(({short}) => LONG || short);

/* Nothing is wider than the window, and Save is within it. */
async function fits(page, save) {
	const {width, height} = page.viewportSize();
	const button = page.locator(".foot .primary, .foot button").last();
	const box = await button.boundingBox();

	assert.match(await button.textContent(), save);
	assert.ok(box.x + box.width <= width && box.y + box.height <= height);
	assert.ok(await page.evaluate(() =>
	    document.documentElement.scrollWidth <= innerWidth));
}

async function openArticle(page, {hasTouch}) {
	if (hasTouch)
		await cell(page, 1, "libelle1").tap();
	else
		await cell(page, 1, "libelle1").dblclick();
	await page.waitForSelector(".panel .plot canvas");
	await page.waitForTimeout(200);
}

const styleOf = (page, selector, name, part = null) => page.locator(selector)
    .first().evaluate((node, [wanted, pseudo]) =>
	getComputedStyle(node, pseudo)[wanted], [name, part]);

/* What a colour tells is told otherwise where the system chooses colours. */
async function forced(day, browser) {
	await day.check("edits and choices are seen in forced colours",
	    async () => {
		const page = day.page = await open(browser,
		    {forcedColors: "active"});
		const {codeGamme, gammeAValider} =
		    await product(await codeAt(page, 1));

		await cell(page, 1, "libelle1").click();
		await page.keyboard.press(another(codeGamme,
		    gammeAValider).toLowerCase());
		await page.waitForSelector(".gamme.mine");
		assert.equal(await styleOf(page, ".gamme.mine",
		    "borderTopStyle"), "dashed");
		assert.notEqual(
		    await styleOf(page, ".choice input:checked + .face",
			"backgroundColor"),
		    await styleOf(page, ".choice input:not(:checked) + .face",
			"backgroundColor"));
		await day.shot("forced-colours");
		await page.keyboard.press("Control+z");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		await page.context().close();
	});
	await day.check("no sign is lost in forced colours", async () => {
		const page = day.page = await open(browser,
		    {forcedColors: "active"});
		const canvas = await styleOf(page, "body", "backgroundColor");
		const differs = async (...where) => assert.notEqual(
		    await styleOf(page, ...where), canvas, where[0]);

		await cell(page, 1, "libelle1").click();
		await differs(".ag-row-focus .labelled .open", "backgroundColor",
		    "::before");
		/* One of the two tells that there is nothing to undo. */
		for (let i = 0; i < 2; i++)
			await page.keyboard.press("Control+z");
		await page.waitForSelector(".notice");
		assert.equal(await styleOf(page, ".notice", "borderTopStyle"),
		    "solid");
		await page.keyboard.press("f");
		await page.waitForSelector(".popup li[aria-selected=true]");
		await differs(".popup li[aria-selected=true]",
		    "backgroundColor");
		await page.keyboard.press("Escape");
		await page.evaluate((supplier) => {
			location.hash = `#${supplier}?where=stockActuel%3Dgt.0`;
		}, SUPPLIER);
		await page.waitForSelector(".chips li");
		assert.equal(await styleOf(page, ".chips li", "borderTopStyle"),
		    "solid");
		await page.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("stockActuel"));
		await differs(".funnel.on", "backgroundColor", "::before");
		await page.click(".filters .columns");
		await differs(".pin[aria-pressed=true]", "backgroundColor");
		await page.keyboard.press("Escape");
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		await differs(".panel .mark", "backgroundColor");
		await page.keyboard.press("Escape");
		const rows = await hold(page, "**/api/v1/grid?*");

		await page.keyboard.press("Control+End");
		await page.waitForSelector(".ag-row.row-waits");
		assert.match(await styleOf(page, ".ag-row.row-waits",
		    "backgroundImage"), /gradient/);
		await day.shot("forced-colours-waits");
		await rows.letGo();
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
}

/* The network's figures stand beside those of one's own stores. */
async function beside(day, browser) {
	await day.check("the network's figures stand beside one's own",
	    async () => {
		const page = day.page = await open(browser);
		const {data: [{codein}]} = await grid(
		    "caReseau=gt.0&fields=codein&limit=1");
		const row = await product(codein);

		await page.evaluate(([supplier, article]) => {
			location.hash = `#${supplier}?article=${article}`;
		}, [SUPPLIER, codein]);
		await page.waitForSelector(".panel table.beside");
		const lines = await page.evaluate(() => [...document
		    .querySelectorAll("table.beside tbody tr")].map((line) =>
			[...line.querySelectorAll("td")].map((one) =>
			    Number(one.textContent.replace(/[^\d,]/g, "")
				.replace(",", ".")))));

		assert.deepEqual(lines[0], [row.nbMagasins,
		    row.network.nbMagasinsReseau]);
		assert.deepEqual(lines[1], [row.caParMagasin,
		    row.network.caParMagasinReseau].map(Math.round));
		await page.locator("table.beside").scrollIntoViewIfNeeded();
		await day.axe("beside");
		await page.context().close();
	});
}

/*
 * The lines of the codes, which wrap, stand on one base line each, and the names
 * of months below a chart do not run into one another.
 */
async function narrow(day, browser) {
	await day.check("an article's codes and months are in line on a phone",
	    async () => {
		const page = day.page = await open(browser,
		    {viewport: {width: 390, height: 844}});

		await page.evaluate(() => {
			const canvas = CanvasRenderingContext2D.prototype;
			const {fillText} = canvas;

			window.drawn = new Map();
			canvas.fillText = function (text, x, y, ...rest) {
				const {width} = this.measureText(text);
				const all = drawn.get(this.canvas) ?? new Map();

				if (/^\p{L}/u.test(text))
					all.set(x, {text, left: x - width / 2,
					    right: x + width / 2});
				drawn.set(this.canvas, all);
				return fillText.call(this, text, x, y, ...rest);
			};
		});
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		await page.waitForFunction(() => drawn.size > 0);
		for (const names of await page.evaluate(() =>
		    [...drawn.values()].map((all) => [...all.values()]
			.sort((a, b) => a.left - b.left)))) {
			assert.ok(names.length > 4);
			names.slice(1).forEach(({text, left}, i) =>
			    assert.ok(left > names[i].right,
				`${names[i].text} runs into ${text}`));
		}
		const lines = await page.locator(".codes .code").evaluateAll(
		    (all) => all.map((one) => {
			const text = document.createRange();

			text.selectNodeContents(one);
			return Math.round(text.getBoundingClientRect().bottom);
		    }));

		assert.equal(lines.length, 4);
		assert.equal(new Set(lines).size, 2, lines.join(" "));
		await day.shot("phone-article");
		await page.context().close();
	    });
}

export async function looks(day, browser) {
	await forced(day, browser);
	await narrow(day, browser);
	await beside(day, browser);
	for (const {name, save, options} of LOOKS)
		await day.check(`it can be used as: ${name}`, async () => {
			const page = await open(browser, options);

			day.page = page;
			await fits(page, save);
			await day.axe(name);
			await openArticle(page, options);
			await day.axe(`${name}-article`);
			assert.deepEqual(page.problems, []);
			await page.context().close();
		});
}
