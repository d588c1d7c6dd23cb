/* kit: a browser, a page that is logged in, and what our starter does. */
import {createRequire} from "node:module";
import readline from "node:readline";

const {GRID_MODULES, GRID_URL, GRID_USER, GRID_PASSWORD} = process.env;
const require = createRequire(GRID_MODULES + "/x.js");

export const {chromium} = require("playwright-core");
export const axeSource = require("axe-core").source;

const lines = readline.createInterface({input: process.stdin});
const answers = lines[Symbol.asyncIterator]();

/* Asks screen.py: restart, expire, ctl WORDS. */
export async function host(...words) {
	console.log("@ " + words.join(" "));
	return (await answers.next()).value;
}

export const done = () => lines.close();

export function openBrowser() {
	return chromium.launch({executablePath: "/usr/bin/chromium",
	    headless: true, args: ["--headless", "--no-sandbox",
		"--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync"]});
}

/* A new profile each time; `problems` gathers what the page complains of. */
export async function openPage(browser, options = {}) {
	const context = await browser.newContext({
	    viewport: {width: 1280, height: 720}, locale: "fr-FR", ...options});
	const page = await context.newPage();

	page.problems = [];
	page.on("pageerror", (error) => page.problems.push(error.stack));
	page.on("console", (message) => {
		if (message.type() === "error" &&
		    !message.text().includes("Failed to load resource"))
			page.problems.push(message.text());
	});
	await page.goto(GRID_URL);
	await page.waitForSelector(".login-card");
	return page;
}

export async function logIn(page) {
	await page.fill("#user", GRID_USER);
	await page.fill("#password", GRID_PASSWORD);
	await page.keyboard.press("Enter");
}

export async function chooseSupplier(page, code) {
	await page.waitForSelector(".popup.suppliers li");
	await page.fill(".popup input", code);
	await page.waitForFunction(
	    () => document.querySelectorAll(".popup li").length === 1);
	await page.keyboard.press("Enter");
	await rowsDrawn(page);
}

/* The row at the top of the view has its label. */
export const rowsDrawn = (page) => page.waitForFunction(() => {
	const cell = document.querySelector(
	    ".ag-row:not(.row-waits) .kind-label");

	return cell !== null && cell.textContent.length > 0 &&
	    document.querySelector(".rows-state").hidden;
});

export const cell = (page, row, column) => page.locator(
    `.ag-row[row-index="${row}"] .ag-cell[col-id="${column}"]`);

export const total = async (page) => {
	const text = await page.textContent(".totals");

	return Number(text.replace(/[\s\u202f\u00a0,]/g, "").match(/^\d+/)[0]);
};
