/*
 * sizes: five widths and 200 %, light and dark, French and English; each window
 * fits, and axe finds nothing serious in it.
 */
import assert from "node:assert/strict";
import {another, api, cell, grid, host, open, SUPPLIER} from "./kit.mjs";

const SIZES = [
	{name: "390", touch: true, viewport: {width: 390, height: 844}},
	{name: "768", viewport: {width: 768, height: 1024}},
	{name: "1440", viewport: {width: 1440, height: 900}},
	{name: "1920", viewport: {width: 1920, height: 1080}},
	{name: "2560", viewport: {width: 2560, height: 1440}},
	/* 1366 pixels at 200 %. */
	{name: "200", viewport: {width: 683, height: 384}},
];

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
		bottom <= view.bottom + 1).length;
});

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

async function article(day, page, {name, touch}) {
	await cell(page, 1, "libelle1").click();
	if (!touch)
		await page.keyboard.press("Enter");
	await page.waitForSelector(".panel .plot canvas");
	const lines = await page.locator(".key .fact dd").evaluateAll((nodes) =>
	    nodes.map((node) => node.getBoundingClientRect().height));

	assert.ok(Math.max(...lines) < 32, `a figure breaks: ${lines}`);
	await day.shot(`size-${name}-article`);
	await day.axeInTheme("the article");
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
		const {name, touch, viewport} = size;

		await day.check(`each window fits at ${name}`, async () => {
			const page = day.page = await open(browser, {viewport,
			    hasTouch: touch, locale: i % 2 ? "en-GB" : "fr-FR",
			    colorScheme: i % 2 ? "dark" : "light"});

			assert.ok(await page.evaluate(() =>
			    document.documentElement.scrollWidth <= innerWidth));
			await day.shot(`size-${name}`);
			assert.ok(await rowsInSight(page) >= 5);
			await day.axeInTheme("the grid");
			if (viewport.width >= 1920) {
				const box = await cell(page, 0, "trend")
				    .boundingBox();

				assert.ok(box.x + box.width >
				    viewport.width - 40, "white is left");
			}
			await windows(day, page, name);
			await article(day, page, size);
			assert.deepEqual(page.problems, []);
			await page.context().close();
		});
	}
}
