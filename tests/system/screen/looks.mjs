/* looks: other languages, themes and windows. */
import assert from "node:assert/strict";
import {another, cell, codeAt, grid, open, product, SUPPLIER} from "./kit.mjs";

const LOOKS = [
	{name: "dark-english", save: /^Save/,
	    options: {colorScheme: "dark", locale: "en-GB"}},
	{name: "tablet-landscape", save: /^Enregistrer/,
	    options: {viewport: {width: 1024, height: 768}, hasTouch: true,
		isMobile: true}},
	{name: "tablet-portrait", save: /^Enregistrer/,
	    options: {viewport: {width: 768, height: 1024}, hasTouch: true,
		isMobile: true, colorScheme: "dark"}},
	{name: "laptop", save: /^Enregistrer/, options: {}},
];

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

const styleOf = (page, selector, name) => page.locator(selector).first()
    .evaluate((node, wanted) => getComputedStyle(node)[wanted], name);

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

export async function looks(day, browser) {
	await forced(day, browser);
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
