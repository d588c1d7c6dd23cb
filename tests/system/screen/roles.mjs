/* roles: what the page offers a buyer, a manager, an administrator. */
import assert from "node:assert/strict";
import {another, api, cell, chooseSupplier, codeAt, host, open, openPage,
    product, propose, rowsDrawn, SUPPLIER, tick} from "./kit.mjs";

const {GRID_PASSWORD} = process.env;

async function openAs(browser, name) {
	const page = await openPage(browser);

	await page.fill("#user", name);
	await page.fill("#password", GRID_PASSWORD);
	await page.keyboard.press("Enter");
	await chooseSupplier(page, SUPPLIER);
	await rowsDrawn(page);
	return page;
}

const noticed = (page, pattern) => page.waitForFunction((source) =>
    new RegExp(source).test(document.querySelector(".notices")?.textContent),
pattern.source);

const seen = (page, name) => page.locator(".foot button").filter(
    {hasText: name}).isVisible();

async function buyerWhoReads(day, other) {
	const {page} = day;

	await day.check("where a buyer does not decide, keys and pastes say so",
	    async () => {
		const codein = await codeAt(page, 0);
		const {codeGamme} = await product(codein);

		await page.waitForSelector(".foot .read-only:not([hidden])");
		assert.match(await page.textContent(".foot .read-only"),
		    /Lecture seule/);
		for (const name of ["Enregistrer", "Annuler"])
			assert.equal(await seen(page, name), false);
		for (const key of [another(codeGamme), "+", "Control+s"]) {
			await cell(page, 0, "codein").click();
			await page.keyboard.press(key);
			await noticed(page, /ne décidez pas des gammes/);
			await page.locator(".notices button").last().click();
		}
		await tick(page, 1);
		await page.waitForFunction(() => /1 ligne choisie/.test(
		    document.querySelector(".foot").textContent));
		assert.equal(await page.locator(".set-chosen").count(), 0);
		await page.click(".foot .counts button.link");
		assert.doesNotMatch(await page.textContent(".foot"), /à vous/);
		await day.axe("read-only");
	});
	await day.check("and no longer at a supplier where the buyer decides",
	    async () => {
		await cell(page, 0, "codein").click();
		await page.keyboard.press("+");
		await noticed(page, /ne décidez pas des gammes/);
		await page.keyboard.press("f");
		await chooseSupplier(page, other);
		await page.waitForSelector(".foot .read-only", {state: "hidden"});
		assert.doesNotMatch(await page.textContent(".notices"),
		    /ne décidez pas/);
		await page.keyboard.press("f");
		await chooseSupplier(page, SUPPLIER);
		await rowsDrawn(page);
	});
	await day.check("an article is shown there without buttons of ranges",
	    async () => {
		await cell(page, 0, "codein").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".range-row");
		assert.equal(await page.locator(".range-buttons").count(), 0);
		await page.keyboard.press("Escape");
	});
	await day.check("a buyer manages neither keys nor shared views",
	    async () => {
		await page.click("header.top button.user");
		assert.match(await page.textContent("dialog"),
		    new RegExp(`acheteur pour ${other}`));
		assert.match(await page.textContent("dialog"),
		    /Un administrateur crée et révoque les clés/);
		assert.equal(await page.locator("#key-name, table.keys").count(),
		    0);
		await day.axe("buyer-settings");
		await page.keyboard.press("Escape");
		await page.click(".filters .views");
		const line = page.locator("dialog .views tr").filter(
		    {hasText: "Vue du responsable"});

		await line.waitFor();
		/* To begin with it, and its link: not to remove it. */
		assert.equal(await line.locator("td button").count(), 2);
		assert.equal(await page.locator(
		    "dialog form input[type=checkbox]").count(), 0);
		assert.match(await page.textContent("dialog"),
		    /Un responsable ou un administrateur gère/);
		await page.keyboard.press("Escape");
	});
	await day.check("suppliers and proposals of others have a lock",
	    async () => {
		await page.click("header.top button.inbox");
		const line = page.locator(".inbox-list tr").filter(
		    {hasText: SUPPLIER});

		await line.waitFor();
		assert.equal(await line.locator(".lock").getAttribute(
		    "aria-label"), "Lecture seule");
		await page.keyboard.press("Escape");
		await page.click("button.supplier");
		await page.fill(".popup input", other);
		await page.waitForFunction((code) => {
			const [first, ...more] = document.querySelectorAll(
			    ".popup li .code");

			return first?.textContent === code && more.length === 0;
		}, other);
		assert.equal(await page.locator(".popup li .lock").count(), 0);
		await page.fill(".popup input", SUPPLIER);
		await page.locator(".popup li").filter({hasText: SUPPLIER})
		    .locator(".lock").waitFor();
		await page.keyboard.press("Escape");
	});
}

async function buyerWhoDecides(day) {
	const {page} = day;

	await day.check("who is given the supplier decides there from then on",
	    async () => {
		await host("ctl", "user", "role", "marc", "buyer",
		    "--suppliers", SUPPLIER);
		await page.reload();
		await rowsDrawn(page);
		const codein = await codeAt(page, 0);
		const wanted = another((await product(codein)).codeGamme,
		    (await product(codein)).gammeAValider);

		assert.equal(await page.locator(".foot .read-only").isVisible(),
		    false);
		await cell(page, 0, "codein").click();
		await page.keyboard.press(wanted);
		await page.waitForFunction(() => /1 modification à vous/.test(
		    document.querySelector(".foot").textContent));
		await tick(page, 0);
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal((await product(codein)).codeGamme, wanted);
	});
	await day.check("what is taken away meanwhile is refused with the reason",
	    async () => {
		await host("ctl", "user", "role", "marc", "buyer",
		    "--suppliers", "NONE");
		const codein = await codeAt(page, 1);
		const {codeGamme, gammeAValider} = await product(codein);

		await cell(page, 1, "codein").click();
		await page.keyboard.press(another(codeGamme, gammeAValider));
		await tick(page, 1);
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.locator("dialog .problem .said").waitFor();
		assert.match(await page.textContent("dialog .problem"),
		    /ne décide que pour certains fournisseurs/);
		assert.equal((await product(codein)).codeGamme, codeGamme);
		await page.keyboard.press("Escape");
	});
}

/* A window of the users' over their list, filled in and sent. */
async function fillUser(page, opener, values) {
	await opener.click();
	for (const [id, value] of Object.entries(values))
		if (id === "role")
			await page.selectOption("#user-role", value);
		else
			await page.fill(`#user-${id}`, value);
	await page.click(".user-form .primary");
}

async function administrator(day, browser, other) {
	const page = day.page = await open(browser);
	const list = page.locator("table.users");
	const line = (name) => list.locator("tr").filter({hasText: name});
	const button = (name, text) => line(name).locator("button")
	    .filter({hasText: text});
	const logsIn = async (user, password) => (await api("POST",
	    "/app/session", {user, password}, "")).status;
	const windowsAre = (count) => page.waitForFunction((n) =>
	    document.querySelectorAll("dialog[open]").length === n, count);
	const problem = page.locator(".user-form .problem");

	await day.check("an administrator adds a user, who may come in",
	    async () => {
		await page.click("header.top button.user");
		await page.locator("dialog section.row button").filter(
		    {hasText: "Utilisateurs"}).click();
		await line("claire").waitFor();
		assert.equal(await line("claire").locator("button").count(), 0);
		await fillUser(page, page.locator("dialog .row > .primary").last(),
		    {name: "zoé", password: "court", suppliers: `${other}; X1`});
		await problem.filter({hasText: "8 caractères"}).waitFor();
		await page.locator(".user-form [role=status]").filter(
		    {hasText: "X1 : inconnu"}).waitFor();
		await page.fill("#user-name", "marc");
		await page.fill("#user-password", GRID_PASSWORD);
		await page.click(".user-form .primary");
		await problem.filter({hasText: "est le nom d'un"}).waitFor();
		await day.axe("user-refused");
		await page.fill("#user-name", "zoé");
		await page.fill("#user-suppliers", other);
		await page.keyboard.press("Enter");
		await line("zoé").filter({hasText: `acheteur pour ${other}`})
		    .waitFor();
		await windowsAre(2);
		/* Her row has the focus. */
		assert.match(await page.evaluate(() => document.activeElement
		    .getAttribute("aria-label")), /^Modifier : zoé$/);
		assert.equal(await logsIn("zoé", GRID_PASSWORD), 200);
		await day.axe("users");
	});
	await day.check("role, password and access are taken and given there",
	    async () => {
		await fillUser(page, button("zoé", "Modifier"),
		    {role: "manager"});
		await line("zoé").filter({hasText: "responsable"}).waitFor();
		await fillUser(page, button("zoé", "Mot de passe"),
		    {password: "un autre, plus long"});
		await windowsAre(2);
		assert.equal(await logsIn("zoé", GRID_PASSWORD), 401);
		assert.equal(await logsIn("zoé", "un autre, plus long"), 200);
		await button("zoé", "Retirer").click();
		await page.locator("dialog").last().locator("footer .danger")
		    .click();
		await line("zoé").waitFor({state: "detached"});
		assert.equal(await logsIn("zoé", "un autre, plus long"), 401);
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}

export async function roles(day, browser) {
	const {json} = await api("GET", "/api/v1/fournisseurs?limit=1000");
	const other = json.data.find(({code}) => code !== SUPPLIER).code;
	const {json: rows} = await api("GET",
	    `/api/v1/grid?fournisseur=${SUPPLIER}&limit=3&page=1000`);
	const last = rows.data.at(-1);

	await propose(last.codein, another(last.codeGamme));
	await host("user", "marc");
	await host("ctl", "user", "role", "marc", "buyer", "--suppliers", other);
	await host("user", "anne");
	await host("ctl", "user", "role", "anne", "manager");

	await administrator(day, browser, other);
	day.page = await openAs(browser, "anne");
	await day.check("a manager shares a view, and has no keys", async () => {
		const {page} = day;

		await page.click(".filters .views");
		await page.fill("#view-name", "Vue du responsable");
		await page.check("dialog label.row input");
		await page.click("dialog form .primary");
		await page.locator("dialog .views tr").filter(
		    {hasText: "Vue du responsable"}).waitFor();
		await page.keyboard.press("Escape");
		await page.click("header.top button.user");
		assert.match(await page.textContent("dialog"), /responsable/);
		assert.equal(await page.locator("table.keys").count(), 0);
		assert.equal(await page.getByText("Utilisateurs").count(), 0);
		await page.keyboard.press("Escape");
		assert.equal(await page.locator(".foot .read-only").isVisible(),
		    false);
		assert.deepEqual(page.problems, []);
	});
	await day.page.context().close();

	const {page} = day;

	day.page = await openAs(browser, "marc");
	assert.notEqual(day.page, page);
	await buyerWhoReads(day, other);
	await buyerWhoDecides(day);
	await day.check("the page complained of nothing as a buyer", () =>
	    assert.deepEqual(day.page.problems, []));
	await day.page.context().close();
}
