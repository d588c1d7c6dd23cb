/*
 * kit: a browser, a page that is logged in, what our starter does, and how a
 * check is counted.
 */
import assert from "node:assert/strict";
import {createRequire} from "node:module";
import readline from "node:readline";

const {GRID_MODULES, GRID_URL, GRID_USER, GRID_PASSWORD, GRID_KEY, GRID_SHOTS,
    GRID_CHROMIUM, GRID_FIREFOX, GRID_LONG} = process.env;
const require = createRequire(GRID_MODULES + "/x.js");
const {chromium, firefox} = require("playwright-core");
const {source: axeSource} = require("axe-core");

/* The long form: each size and look, and minutes of rounds. */
export const LONG = Boolean(GRID_LONG);
export const SUPPLIER = "12345";
export const ROWS = Number(process.env.GRID_ARTICLES);

const lines = readline.createInterface({input: process.stdin});
const answers = lines[Symbol.asyncIterator]();

/* Asks screen.py: stop, start, expire, ctl WORDS. */
export async function host(...words) {
	console.log("@ " + words.join(" "));
	return JSON.parse((await answers.next()).value);
}

export const hangUp = () => lines.close();

/* For a question to the server; `told` says how it stands. */
export async function until(ask, told = () => String(ask)) {
	for (let i = 0; i < 150; i++) {
		if (await ask())
			return;
		await new Promise((go) => setTimeout(go, 200));
	}
	assert.fail(await told());
}

/* --- browser and page ------------------------------------------------------ */

/* Firefox is Debian's own, by the protocol that any Firefox has (BiDi). */
export function openBrowser() {
	if (GRID_FIREFOX)
		return firefox.launch({executablePath: GRID_FIREFOX,
		    channel: "moz-firefox", headless: true});
	return chromium.launch({executablePath: GRID_CHROMIUM, headless: true,
	    ignoreDefaultArgs: ["--hide-scrollbars"],
	    args: ["--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync"]});
}

/* Firefox tells of styles that the driver lays over a picture. */
const isDrivers = (text) => GRID_FIREFOX &&
    /^Content-Security-Policy.*style-src-elem/.test(text);

/* Notes all notices, also those that have gone away. */
const noteNotices = () => {
	window.told = [];
	new MutationObserver((changes) => window.told.push(...changes
	    .flatMap(({addedNodes}) => [...addedNodes])
	    .filter((one) => one.matches?.(".notice"))
	    .map(({textContent}) => textContent)))
	    .observe(document, {childList: true, subtree: true});
};

/* A notice that was shown since the page was loaded has these words. */
export const wasTold = (page, words) => page.waitForFunction((list) =>
    window.told.some((text) => list.every((word) => text.includes(word))),
words);

/*
 * A page that loads lacks elements that a question reads: the answer is "not
 * yet", as long as the page has time.
 */
function askAgainWhileIncomplete(page) {
	const wait = page.waitForFunction.bind(page);

	page.waitForFunction = (question, ...rest) => {
		/* A promise counts as "yes" there: until() is for these. */
		assert.notEqual(question.constructor.name, "AsyncFunction");
		return wait(new Function(`return (value) => {
			try {
				return (${question})(value);
			} catch {
				return false;
			}
		};`)(), ...rest);
	};
}

/*
 * A new profile each time; `problems` gathers what the page complains of. With
 * `notes` wasTold() can be asked.
 */
export async function openPage(browser, {notes = false, ...options} = {}) {
	const context = await browser.newContext({
	    viewport: {width: 1280, height: 720}, locale: "fr-FR", ...options});

	context.on("page", askAgainWhileIncomplete);
	if (notes)
		await context.addInitScript(noteNotices);
	const page = await context.newPage();

	/* Long, for a machine that has much else to do. */
	page.setDefaultTimeout(Number(process.env.GRID_PATIENCE_MS ?? 60000));
	page.problems = [];
	page.on("pageerror", (error) => isDrivers(error.stack) ||
	    page.problems.push(error.stack));
	page.on("console", (message) => {
		if (message.type() === "error" &&
		    !message.text().includes("Failed to load resource"))
			page.problems.push(message.text());
	});
	await page.goto(GRID_URL);
	await page.waitForSelector(".login-card");
	return page;
}

export async function logIn(page, user = GRID_USER) {
	await page.fill("#user", user);
	await page.fill("#password", GRID_PASSWORD);
	await page.keyboard.press("Enter");
}

export async function logInAgain(page) {
	await page.fill("dialog.login #password", GRID_PASSWORD);
	await page.keyboard.press("Enter");
	await page.waitForSelector("dialog.login", {state: "detached"});
}

/* In the box that is open: the one supplier that fits is chosen by Enter. */
export async function chooseSupplier(page, words, code = words) {
	await page.waitForSelector(".popup.suppliers input");
	await page.fill(".popup input", words);
	await page.waitForFunction((text) => {
		const items = document.querySelectorAll(".popup li");

		return items.length === 1 && items[0].textContent.includes(text);
	}, code);
	await page.keyboard.press("Enter");
}

/* Edits that another check has left on the server are not this one's. */
export async function forgetDrafts(page) {
	await page.waitForSelector(".popup.suppliers input");
	await page.evaluate((code) => fetch(`/app/kept/mine/drafts.${code}`,
	    {method: "DELETE"}), SUPPLIER);
}

/* `keep` leaves the buyer's unsaved edits as they are on the server. */
export async function open(browser, {keep = false, user, ...options} = {}) {
	const page = await openPage(browser, options);

	await logIn(page, user);
	if (!keep)
		await forgetDrafts(page);
	await chooseSupplier(page, SUPPLIER);
	await rowsDrawn(page);
	return page;
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

/* A row that is on its way has no code yet. */
export async function codeAt(page, row) {
	const at = cell(page, row, "codein");

	await at.filter({hasText: /\S/}).waitFor();
	return at.textContent();
}

/* Not by force: that fails where the row is being drawn anew. */
const tickAt = (page, row) => page.locator(
    `.ag-row[row-index="${row}"] input.tick`).first();

export const tick = (page, row) => tickAt(page, row).check();

export const untick = (page, row) => tickAt(page, row).uncheck();

/* The page looks for proposals and edits when one comes back to it. */
export const lookAgain = (page) => page.evaluate(() =>
    dispatchEvent(new Event("focus")));

/* --- edits ------------------------------------------------------------------ */

export async function setRow(page, row, gamme) {
	await cell(page, row, "libelle1").click();
	await page.keyboard.press(gamme);
	await cell(page, row, "codeGamme").locator(".gamme.mine").waitFor();
}

/* By its own Save, which is not for others. */
export async function saveRow(page, row) {
	await tick(page, row);
	await page.keyboard.press("Control+s");
	await page.click("dialog footer .primary");
}

/* The edit that a row shows, null for none. */
export const mineAt = (page, row, gamme) => page.waitForFunction(([n, text]) =>
    (document.querySelector(`.ag-row[row-index="${n}"] .gamme.mine`)
	?.textContent ?? null) === text, [row, gamme]);

/* What the server keeps of the buyer's edits, "" for nothing. */
export const keptNow = (page) => page.evaluate(async (code) => {
	const reply = await fetch(`/app/kept/mine/drafts.${code}`);

	return reply.status === 200 ? (await reply.json()).data.value : "";
}, SUPPLIER);

/* The page tells the server a moment after an edit. */
export const keptIs = (page, fits) => until(async () =>
    fits(await keptNow(page)), async () => `kept: ${await keptNow(page)}`);

export const linesAre = (page, count) => keptIs(page, (value) =>
    value.split("\n").filter((line) => line !== "").length === count);

/* --- rows ------------------------------------------------------------------- */

/* The bar at the foot tells this number of articles. */
export const totalIs = (page, count) => page.waitForFunction((text) =>
    document.querySelector(".totals").textContent
	.replace(/(\d)[\s\u202f\u00a0,](?=\d)/g, "$1").startsWith(text),
`${count} `);

export const firstRowIs = (page, codein) => page.waitForFunction((text) =>
    document.querySelector('.ag-row[row-index="0"]:not(.row-waits) ' +
	".ag-cell[col-id=codein]")?.textContent === text, codein);

/* --- the API ------------------------------------------------------------------ */

export async function api(method, path, body, key = GRID_KEY) {
	const reply = await fetch(GRID_URL + path, {method, headers: {
	    "X-API-Key": key, "Content-Type": "application/json"},
	body: body && JSON.stringify(body)});

	return {status: reply.status, json: await reply.json()};
}

export const grid = async (query) => (await api("GET",
    `/api/v1/grid?fournisseur=${SUPPLIER}&${query}`)).json;

export const product = async (codein) => (await api("GET",
    `/api/v1/products/${codein}?fournisseur=${SUPPLIER}`)).json.data;

export async function propose(codein, gamme) {
	const {status} = await api("PUT", `/api/v1/products/${codein}/gamme`,
	    {fournisseur: SUPPLIER, gamme});

	assert.equal(status, 200);
}

/* The buyer says no to what is proposed at an article that is shown. */
export async function rejectAt(page, codein) {
	const at = page.locator(`[row-id="${codein}"]`);

	await at.locator("[col-id=codein]").click();
	await page.keyboard.press("-");
	await until(async () => (await product(codein)).gammeAValider === null);
}

/* A range that differs from each of these. */
export const another = (...not) => [..."ABCYZ"].find((g) => !not.includes(g));

/* The article of a row, and a range that it has not. */
export async function articleAt(page, row) {
	const codein = await codeAt(page, row);
	const {codeGamme} = await product(codein);

	return {codein, codeGamme, wanted: another(codeGamme)};
}

/* All rows are alike: axe looks at the first ones. */
const MORE_ROWS = ".ag-row" + [0, 1, 2, 3, 4, 5].map((i) =>
    `:not([row-index="${i}"])`).join("");

/* A theme changes colours alone; the long form looks at all, to be sure. */
const AXE_ALL = {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a",
    "wcag21aa", "wcag22aa"]};
const AXE_COLOURS = LONG ? AXE_ALL :
    {type: "rule", values: ["color-contrast"]};

/* --- answers that come late --------------------------------------------------- */

/*
 * From now on answers from `path` wait on the way, as they were when they were
 * asked for; `some` says which. letGo() lets them all arrive, the last first.
 */
export async function hold(page, path, some = () => true) {
	const waiting = [], answers = [];
	let held = true;
	const answer = async (route) => {
		const response = await route.fetch();

		/* One that was under way when all were let go is not held. */
		if (held)
			await new Promise((go) => waiting.push(go));
		/* The page may want it no more. */
		return route.fulfill({response}).catch(() => {});
	};
	const handler = (route) => some(route.request()) ?
	    answers[answers.push(answer(route)) - 1] : route.fallback();

	await page.route(path, handler);
	return {
		async holds(count) {
			for (let i = 0; waiting.length < count; i++) {
				assert.ok(i < 1200, `${waiting.length} wait, not ${count}`);
				await page.waitForTimeout(50);
			}
		},
		async letGo() {
			held = false;
			for (const go of waiting.splice(0).reverse())
				go();
			/* Without a route the browser asks all of them anew. */
			while (answers.length > 0)
				await Promise.all(answers.splice(0));
			await page.unroute(path, handler);
			await page.waitForTimeout(200);
		},
	};
}

/* --- checks ------------------------------------------------------------------- */

/* A page that hangs answers no question, and some wait without an end. */
function inTime(promise) {
	const seconds = LONG ? 3600 : 300;
	let bell;

	return Promise.race([promise, new Promise((_, fail) => {
		bell = setTimeout(() => fail(new Error(
		    `not done after ${seconds} s`)), seconds * 1000);
	})]).finally(() => clearTimeout(bell));
}

/*
 * `page` may be set anew; check() counts, shot() writes a picture, axe() finds
 * no serious violation in light and dark, and shows both.
 */
export class Checks {
	page = null;
	passed = 0;
	failed = 0;
	running = "no check";

	/* What fails beside a check, as in an answer that a check makes up. */
	constructor() {
		process.on("SIGTERM", () => {
			console.log(`not ok: ${this.running}\nended by TERM`);
			process.exit(1);
		});
		process.on("unhandledRejection", (error) => {
			this.failed++;
			console.log(`not ok: beside a check\n${error?.stack ?? error}`);
		});
	}

	/* After a few failures the rest would only wait for what cannot come. */
	async check(name, run) {
		const start = Date.now();

		if (this.failed >= 4) {
			this.failed++;
			console.log(`not run: ${name}`);
			return;
		}
		this.running = name;
		try {
			await inTime(run());
			this.passed++;
			console.log(`ok: ${name} (${Date.now() - start} ms)`);
		} catch (error) {
			this.failed++;
			console.log(`not ok: ${name}\n${error.stack}`);
			await inTime(this.shot(`failed-${this.failed}`)).catch(
			    () => console.log("no picture of it"));
		}
	}

	shot(name) {
		return this.page.screenshot({path: `${GRID_SHOTS}/${name}.png`,
		    caret: GRID_FIREFOX ? "initial" : "hide"});
	}

	async axe(name) {
		const {page} = this;
		const theme = await page.evaluate(() =>
		    document.documentElement.dataset.theme);

		await this.shot(name);
		for (const [wanted, rules] of [["light", AXE_ALL],
		    ["dark", AXE_COLOURS]]) {
			await page.evaluate((one) => {
				document.documentElement.dataset.theme = one;
			}, wanted);
			await this.axeInTheme(`${name}, ${wanted}`, rules);
		}
		await page.evaluate((one) => {
			document.documentElement.dataset.theme = one;
		}, theme);
	}

	/* In the theme that the page has. */
	async axeInTheme(name, rules = AXE_ALL) {
		if (await this.page.evaluate(() => !window.axe))
			await this.page.evaluate(axeSource);
		const violations = await this.page.evaluate(
		    async ([rest, runOnly]) => (await axe.run({exclude: [[rest]]},
			{resultTypes: ["violations"], runOnly}))
			.violations.map(({id, impact, nodes}) => ({id, impact,
			    html: nodes[0].html.slice(0, 160)})),
		    [MORE_ROWS, rules]);

		for (const {id, impact, html} of violations)
			console.log(`    axe, ${name}: ${impact} ${id} ${html}`);
		assert.deepEqual(violations.filter(({impact}) =>
		    ["serious", "critical"].includes(impact)), []);
	}

	/* The last line; ends the process. */
	done() {
		hangUp();
		console.log(`${this.passed} passed, ${this.failed} failed`);
		process.exit(this.failed === 0 ? 0 : 1);
	}
}
