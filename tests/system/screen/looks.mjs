/* looks: other languages, themes and windows. */
import assert from "node:assert/strict";
import {cell, open} from "./kit.mjs";

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

export async function looks(day, browser) {
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
