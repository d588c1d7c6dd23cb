/*
 * failing: windows whose question fails say why, and ask once more by a button;
 * with nothing to show they show no empty table.
 */
import assert from "node:assert/strict";
import {cell, open} from "./kit.mjs";

const BROKEN = {status: 500, contentType: "application/json",
    body: JSON.stringify({error: {code: "internal_error",
	message: "The database could not be read."}})};

const FAILED = ".failure .problem";

/* How each is opened, what it asks for, and what it shows then. */
const PLACES = {
	inbox: {open: (page) => page.click(".top .inbox"),
	    asks: "**/app/waiting", shows: "dialog tbody tr, " +
		"dialog [role=status]:has-text('Rien')"},
	subtotals: {open: (page) => page.click(".filters .summary"),
	    asks: "**/api/v1/grid/aggregates?*",
	    shows: "dialog .sum-table tbody tr"},
	values: {open: async (page) => {
		await page.click(".filters button.quiet");
		await page.selectOption("#filter-column", "marque");
	    }, asks: "**/api/v1/grid/aggregates?*", shows: "dialog .values li"},
	suppliers: {open: (page) => page.click("button.supplier"),
	    asks: "**/api/v1/fournisseurs?*", shows: ".popup li"},
	article: {open: async (page) => {
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Enter");
	    }, asks: "**/api/v1/products/*?*", shows: ".panel .plot canvas"},
	history: {open: async (page) => {
		await cell(page, 1, "libelle1").click();
		await page.keyboard.press("Enter");
	    }, asks: "**/api/v1/products/*/gammes?*",
	    shows: ".panel .history li, .panel [role=status]:has-text('Rien')"},
	everywhere: {open: async (page) => {
		await page.fill(".search-box input", "beurre");
		await page.click(".search-box .everywhere");
	    }, asks: "**/api/v1/products/search?*", shows: "dialog tbody tr"},
	users: {open: async (page) => {
		await page.click("header.top button.user");
		await page.locator("dialog section.row button")
		    .filter({hasText: "Utilisateurs"}).click();
	    }, asks: "**/app/users", shows: "dialog table.users tbody tr"},
};

const emptyTables = (page) => page.locator(
    "dialog table:visible:not(:has(tbody tr))").count();

/* Window by window. */
async function close(page) {
	const open = page.locator(
	    "dialog[open], .panel:not([hidden]), .popup:not([hidden])");

	for (let left = await open.count(); left > 0; left--) {
		await page.keyboard.press("Escape");
		await page.waitForFunction((count) => document.querySelectorAll(
		    "dialog[open], .panel:not([hidden]), .popup:not([hidden])")
		    .length === count, left - 1);
	}
}

export async function failing(day, browser) {
	const page = day.page = await open(browser);

	for (const [name, {open: show, asks, shows}] of Object.entries(PLACES))
		await day.check(`what fails is asked again: ${name}`, async () => {
			await page.route(asks, (route) => route.fulfill(BROKEN));
			await show(page);
			await page.waitForSelector(FAILED);
			assert.match(await page.textContent(FAILED),
			    /n'(a|ont) pas pu.*could not be read/);
			assert.equal(await emptyTables(page), 0);
			await day.axe(`failed-${name}`);
			/*
			 * Again, by the keyboard: the focus stays there. The
			 * question fails as well, and says so anew.
			 */
			await page.locator(FAILED).evaluate((old) => {
				old.dataset.old = "";
			});
			await page.focus(".failure button");
			await page.keyboard.press("Enter");
			await page.waitForSelector(`${FAILED}:not([data-old])`);
			await page.waitForFunction(() => document.activeElement
			    .matches(".failure button, input"));
			await page.unroute(asks);
			await page.focus(".failure button");
			await page.keyboard.press("Enter");
			await page.locator(shows).first().waitFor();
			assert.equal(await page.locator(FAILED).count(), 0);
			await close(page);
		});
	assert.deepEqual(page.problems, []);
	await page.context().close();
}
