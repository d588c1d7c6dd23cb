/*
 * ended: a session that ends below an open window. The login comes over it,
 * found out by the page's own question or by the window's; what was typed is
 * there below it and after it, and what was refused is done once, in sight.
 */
import assert from "node:assert/strict";
import {another, articleAt, cell, codeAt, host, keptIs, linesAre, logInAgain,
    lookAgain, open, product, rowsDrawn, setRow, SUPPLIER, tick, until} from "./kit.mjs";
import {withoutPolls} from "./polls.mjs";

const {GRID_PASSWORD} = process.env;

const settings = async (page) => {
	await page.click("header.top button.user");
	await page.waitForSelector("table.keys tbody td");
};
const section = (page, words) => page.locator("dialog section.row button")
    .filter({hasText: words}).click();
const primary = (page) => page.click("dialog:not(.login) form .primary");
const row = (page, table, words) => page.locator(`dialog ${table} tr`)
    .filter({hasText: words}).first().waitFor();

/*
 * How each is opened, what is `typed` in it, the act that `asks` a question of
 * this method and address, what has come of it when it is done() after the login,
 * and whether the window `stays` then.
 */
const WINDOWS = {
	"a filter's values": {
		open: (page) => page.click(".filters button.quiet"),
		act: (page) => page.selectOption("#filter-column", "marque"),
		asks: ["GET", "/api/v1/grid/aggregates"],
		done: (page) => page.locator("dialog .values li").first()
		    .waitFor(), stays: true},
	"a filter by a list": {
		async open(page) {
			this.code = await codeAt(page, 1);
			await page.click(".filters button.quiet");
			await page.selectOption("#filter-column", "codein");
			await page.selectOption("#filter-operator", "list");
			this.typed = {"#filter-value": this.code};
		},
		act: primary, asks: ["GET", "/api/v1/grid", "codein"],
		async done(page) {
			await page.waitForFunction((code) => document
			    .querySelector('.ag-row[row-index="0"] ' +
				"[col-id=codein]")?.textContent === code &&
				document.querySelector(
				    '.ag-row[row-index="1"]') === null,
			this.code);
			await page.evaluate((code) => {
				location.hash = `#${code}`;
			}, SUPPLIER);
			await rowsDrawn(page);
			await cell(page, 1, "codein").waitFor();
		}},
	"an export": {
		async open(page) {
			await page.click(".filters .export");
			await page.check("dialog [name=format][value=csv]");
			this.file = page.waitForEvent("download");
		},
		act: (page) => page.click("dialog footer .primary"),
		asks: ["GET", "/api/v1/grid"],
		async done() {
			assert.match((await this.file).suggestedFilename(),
			    /^grid-.*\.csv$/);
		}},
	"a decision": {
		async open(page) {
			this.code = await codeAt(page, 2);
			this.gamme = another((await product(this.code))
			    .codeGamme);
			await cell(page, 2, "libelle1").click();
			await page.keyboard.press(this.gamme.toLowerCase());
			await keptIs(page, (value) => value !== "");
			await tick(page, 2);
			await page.keyboard.press("Control+s");
			await page.waitForSelector("dialog[open]");
		},
		act: (page) => page.click("dialog footer .primary"),
		asks: ["POST", "/app/save"],
		async done() {
			assert.equal((await product(this.code)).codeGamme,
			    this.gamme);
		}},
	inbox: {
		open: () => {},
		act: (page) => page.click(".top .inbox"),
		asks: ["GET", "/app/waiting"],
		done: (page) => page.locator("dialog tbody tr, " +
		    "dialog [role=status]:has-text('Rien')").first().waitFor(),
		stays: true},
	views: {
		async open(page) {
			await page.click(".filters .views");
			await page.locator("dialog .views td").first().waitFor();
		},
		typed: {"#view-name": "Fin de session"},
		act: primary, asks: ["PUT", "/app/kept/mine/view."],
		done: (page) => row(page, ".views", "Fin de session"),
		stays: true},
	"a user": {
		async open(page) {
			await settings(page);
			await section(page, "Utilisateurs");
			await row(page, "table.users", "claire");
			await page.locator("dialog .row > .primary").last()
			    .click();
		},
		typed: {"#user-name": "odile", "#user-password": "provisoire",
		    "#user-suppliers": SUPPLIER},
		act: (page) => page.click(".user-form .primary"),
		asks: ["POST", "/app/users"],
		done: (page) => row(page, "table.users", "odile"), stays: true},
	keys: {
		open: settings, typed: {"#key-name": "fin de session"},
		act: (page) => page.locator("dialog form.row .primary").click(),
		asks: ["POST", "/app/keys"],
		async done(page) {
			await page.waitForSelector("dialog .fresh .secret");
			assert.equal(await page.locator("table.keys tbody tr")
			    .filter({hasText: "fin de session"}).count(), 1);
		}, stays: true},
	"a password": {
		async open(page) {
			await settings(page);
			await section(page, "mot de passe");
		},
		typed: {"#password-now": GRID_PASSWORD,
		    "#password-new": GRID_PASSWORD,
		    "#password-again": GRID_PASSWORD},
		act: (page) => page.click("form.password .primary"),
		asks: ["PUT", "/app/password"],
		done: (page) => page.waitForSelector(
		    ".notice:has-text('Mot de passe changé')"), stays: true},
	settings: {
		open: () => {},
		act: (page) => page.click("header.top button.user"),
		asks: ["GET", "/app/keys"],
		done: (page) => row(page, "table.keys", "agent-gammes"),
		stays: true},
	article: {
		async open(page) {
			await cell(page, 1, "libelle1").click();
			await page.keyboard.press("Enter");
			await page.locator(".panel .plot canvas").first()
			    .waitFor();
			this.code = await codeAt(page, 2);
		},
		act: (page) => page.locator(".panel-tools button").nth(1).click(),
		asks: ["GET", "/api/v1/products/"],
		done(page) {
			return page.locator(".panel:not(.waits) .codes")
			    .filter({hasText: this.code}).waitFor();
		}, stays: true},
	"a chart": {
		async open(page) {
			await page.click(".filters .summary");
			await page.locator("dialog .sum-table").waitFor();
		},
		act: (page) => page.locator("dialog .choice label").last().click(),
		asks: ["GET", "/api/v1/grid/aggregates"],
		done: (page) => page.waitForSelector("dialog .month-line"),
		stays: true},
	suppliers: {
		async open(page) {
			await page.click("button.supplier");
			await page.locator(".popup li").first().waitFor();
		},
		act: (page) => page.fill(".popup input", SUPPLIER),
		asks: ["GET", "/api/v1/fournisseurs", `search=${SUPPLIER}`],
		async done(page) {
			assert.equal(await page.inputValue(".popup input"),
			    SUPPLIER);
			await page.waitForFunction(() => document
			    .querySelectorAll(".popup li").length === 1);
		}, stays: true},
};

/* The login has the focus, and nothing lies over it. */
const loginIsOver = (page) => page.waitForFunction(() => {
	const {left, top, width, height} = document.querySelector(
	    "dialog.login").getBoundingClientRect();

	return document.elementFromPoint(left + width / 2, top + height / 2)
	    .closest("dialog.login") !== null &&
	    document.activeElement.closest("dialog.login") !== null;
});

async function isTyped(page, typed) {
	for (const [field, value] of Object.entries(typed))
		assert.equal(await page.inputValue(field), value);
}

/* How often the question was asked from now on, and answered: {done, refused}. */
function counted(page, [method, path, query = ""]) {
	const count = {done: 0, refused: 0};
	const asked = new WeakSet();
	const note = (request) => asked.add(request);
	const hear = (response) => {
		const {pathname, search} = new URL(response.url());

		if (!asked.has(response.request()) ||
		    response.request().method() !== method ||
		    !(path.endsWith("/") || path.endsWith(".") ?
			pathname.startsWith(path) : pathname === path) ||
		    !search.includes(query))
			return;
		count.done += response.ok();
		count.refused += response.status() === 401;
	};

	page.on("request", note);
	page.on("response", hear);
	return {count, end() {
		page.off("request", note);
		page.off("response", hear);
	}};
}

async function close(page) {
	const open = "dialog[open], .panel:not([hidden]), .popup:not([hidden])";

	for (let left = await page.locator(open).count(); left > 0; left--) {
		await page.keyboard.press("Escape");
		await page.waitForFunction(([words, count]) =>
		    document.querySelectorAll(words).length === count,
		[open, left - 1]);
	}
}

/* The page's own question finds it out: the window is as it was. */
async function foundByThePage(page, typed) {
	const focus = () => page.evaluate(() =>
	    document.activeElement.cloneNode().outerHTML);
	const had = await focus();

	await host("expire");
	await lookAgain(page);
	await loginIsOver(page);
	await isTyped(page, typed);
	await logInAgain(page);
	await isTyped(page, typed);
	assert.equal(await focus(), had);
}

async function foundByTheWindow(page, one, typed) {
	await host("expire");
	/* Answers to what was asked before may still come. */
	const {count, end} = counted(page, one.asks);

	await one.act(page);
	await loginIsOver(page);
	await isTyped(page, typed);
	assert.equal(count.done, 0);
	await logInAgain(page);
	await one.done(page);
	await until(() => count.done > 0);
	/* What only reads is asked as often as the page likes. */
	if (one.asks[0] !== "GET")
		assert.deepEqual(count, {done: 1, refused: 1});
	end();
	assert.equal(await page.locator(
	    "dialog[open], .panel:not([hidden]), .popup:not([hidden])")
	    .count() > 0, one.stays === true);
}

/* As by an answer that was under way, in which others' changes were met. */
async function openedMeanwhile(day, page) {
	await day.check("a window that opens below the login stays below it",
	    async () => {
		await host("expire");
		await lookAgain(page);
		await loginIsOver(page);
		await page.fill("dialog.login #password", GRID_PASSWORD);
		await page.evaluate(() =>
		    document.querySelector(".filters .columns").click());
		await page.waitForSelector("dialog .picker");
		await loginIsOver(page);
		assert.equal(await page.inputValue("dialog.login #password"),
		    GRID_PASSWORD);
		await logInAgain(page);
		await page.waitForFunction(() => document.activeElement
		    .closest("dialog")?.querySelector(".picker"));
		await close(page);
	});
}

/* An edit has the page ask after its article, each time it is come back to. */
async function askedOnce(day, page) {
	await day.check("what the page asks of its own waits for the login, once",
	    async () => {
		const {wanted} = await articleAt(page, 4);
		let asked = 0;

		await setRow(page, 4, wanted);
		await keptIs(page, (value) => value !== "");
		await host("expire");
		await lookAgain(page);
		await loginIsOver(page);
		page.on("request", () => asked++);
		for (let i = 0; i < 20; i++)
			await lookAgain(page);
		assert.equal(asked, 0);
		await logInAgain(page);
		await cell(page, 4, "libelle1").click();
		await page.keyboard.press("Control+z");
		await linesAre(page, 0);
	});
}

export async function ended(day, browser) {
	const page = day.page = await open(browser);

	await withoutPolls(page);
	for (const [name, one] of Object.entries(WINDOWS))
		await day.check(`a session ends below a window: ${name}`,
		    async () => {
			await one.open(page);
			const typed = one.typed ?? {};

			for (const [field, value] of Object.entries(typed))
				await page.fill(field, value);
			await foundByThePage(page, typed);
			await foundByTheWindow(page, one, typed);
			await close(page);
		});
	await openedMeanwhile(day, page);
	await askedOnce(day, page);
	assert.deepEqual(page.problems, []);
	await page.context().close();
}
