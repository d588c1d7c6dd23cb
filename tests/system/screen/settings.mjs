/* settings: API keys, and the window of shortcuts. */
import assert from "node:assert/strict";
import {api, host, until} from "./kit.mjs";

const {GRID_USER, GRID_PASSWORD} = process.env;

export async function settings(day) {
	const {page} = day;
	const suppliers = (key) => api("GET", "/api/v1/fournisseurs?limit=1",
	    undefined, key);

	await day.check("a key is made, used, revoked, and then refused",
	    async () => {
		await page.click("header.top button.user");
		assert.match(await page.textContent("dialog"), /claire/);
		await page.fill("#key-name", "nuit");
		await page.selectOption("#key-scope", "read");
		await page.click("form.row .primary");
		const key = await page.inputValue(".fresh .secret");

		await day.axe("keys");
		assert.equal((await suppliers(key)).status, 200);
		await page.click(".fresh button");
		await page.waitForFunction(() => /Copiée/.test(
		    document.querySelector(".fresh button").textContent));
		await page.keyboard.press("Escape");
		await page.click("header.top button.user");
		await page.waitForSelector("table.keys tbody th");
		assert.ok(!(await page.content()).includes(key));
		await page.locator("tr", {hasText: "nuit"})
		    .locator("button.danger").click();
		await day.axe("revoke");
		await page.locator("dialog").last().locator("footer .danger")
		    .click();
		await page.waitForSelector("tr.revoked");
		assert.equal((await suppliers(key)).status, 401);
		await page.keyboard.press("Escape");
	});
	await day.check("a name that is taken is told in the page's words",
	    async () => {
		const problem = page.locator("dialog .problem");

		await page.click("header.top button.user");
		await page.waitForSelector("table.keys tbody th");
		await page.fill("#key-name", "agent-gammes");
		await page.click("form.row .primary");
		assert.match(await problem.textContent(), /d'une clé en service/);
		/* Taken since the list was read: the server says what is wrong. */
		await host("ctl", "key", "create", "--name", "entre-temps",
		    "--scope", "read");
		await page.fill("#key-name", "entre-temps");
		await page.click("form.row .primary");
		await problem.locator(".said").waitFor();
		assert.match(await problem.textContent(),
		    /^La clé n'a pas été créée\. Le serveur n'accepte pas/);
		assert.match(await problem.locator(".said").textContent(),
		    /^name: .*en service/);
		await day.axe("key-refused");
		await page.keyboard.press("Escape");
	});
	await day.check("one's own password is changed, with the old one",
	    async () => {
		const problem = page.locator("dialog .problem").last();
		const fill = async (old, fresh, again = fresh) => {
			await page.fill("#password-now", old);
			await page.fill("#password-new", fresh);
			await page.fill("#password-again", again);
			await page.keyboard.press("Enter");
		};
		const logsIn = async (password) => (await api("POST",
		    "/app/session", {user: GRID_USER, password}, "")).status;

		await page.click("header.top button.user");
		await page.waitForSelector("table.keys tbody th");
		await page.locator("dialog section.row button").first().click();
		await fill(GRID_PASSWORD, "neuf et bon", "neuf et non");
		await problem.filter({hasText: "ne sont pas pareils"}).waitFor();
		await fill(GRID_PASSWORD, "court");
		await problem.filter({hasText: "8 caractères"}).waitFor();
		await fill("pas le bon", "neuf et bon");
		await problem.filter({hasText: "n'est pas le bon"}).waitFor();
		await day.axe("password");
		assert.equal(await logsIn(GRID_PASSWORD), 200);
		await fill(GRID_PASSWORD, "neuf et bon");
		await page.waitForFunction(() => /Mot de passe changé/.test(
		    document.querySelector(".notices").textContent));
		assert.equal(await logsIn(GRID_PASSWORD), 401);
		assert.equal(await logsIn("neuf et bon"), 200);
		/* This browser's session goes on. */
		assert.equal(await page.evaluate(async () => (await fetch(
		    "/app/session")).status), 200);
		await page.locator("dialog section.row button").first().click();
		await fill("neuf et bon", GRID_PASSWORD);
		await page.waitForFunction(() => document.querySelectorAll(
		    "dialog").length === 1);
		assert.equal(await logsIn(GRID_PASSWORD), 200);
		await page.keyboard.press("Escape");
	});
	await day.check("a late 401 of the session before asks for no login",
	    async () => {
		await page.route("**/app/waiting", (route) => route.fulfill(
		    {status: 401, contentType: "application/json",
			body: JSON.stringify({error: {code: "unauthorized",
			    message: "no session"}})}), {times: 1});
		await page.click(".top .inbox");
		await page.locator("dialog .dialog-body").waitFor();
		await page.waitForFunction(() => document.querySelector(
		    ".inbox-list, .notices")?.textContent !== "");
		assert.equal(await page.locator("dialog.login").count(), 0);
		await page.keyboard.press("Escape");
	});
	await day.check("a 401 while the password changes asks for no login",
	    async () => {
		let goOn;
		const gate = new Promise((go) => { goOn = go; });
		let held = false, refused = 0;
		const refuse = (route) => {
			refused += held ? 1 : 0;
			return held && route.request().method() === "GET" ?
			    route.fulfill({status: 401,
				contentType: "application/json",
				body: JSON.stringify({error: {
				    code: "unauthorized", message: "ended"}})}) :
			    route.continue();
		};

		/* Before, a 401 asks for a login rightly. */
		await page.route("**/app/password", async (route) => {
			held = true;
			await gate;
			return route.continue();
		});
		await page.route("**/app/waiting", refuse);
		await page.route("**/app/session", refuse);
		await page.click("header.top button.user");
		await page.waitForSelector("table.keys tbody th");
		await page.locator("dialog section.row button").first().click();
		await page.fill("#password-now", GRID_PASSWORD);
		await page.fill("#password-new", GRID_PASSWORD);
		await page.fill("#password-again", GRID_PASSWORD);
		await page.keyboard.press("Enter");
		await until(() => held);
		await page.evaluate(() =>
		    document.querySelector(".top .inbox").click());
		for (let i = 0; refused === 0; i++) {
			assert.ok(i < 600, "nothing was asked");
			await page.waitForTimeout(50);
		}
		/* What the page does with that answer, it does at once. */
		await page.waitForTimeout(300);
		/* The question of each minute may come beside it. */
		assert.ok(refused <= 2, `${refused} were asked`);
		assert.equal(await page.locator("dialog.login").count(), 0);
		held = false;
		goOn();
		await page.waitForFunction(() => /Mot de passe changé/.test(
		    document.querySelector(".notices").textContent));
		await page.waitForFunction(() => document.querySelectorAll(
		    "dialog").length === 2);
		assert.equal(await page.locator("dialog.login").count(), 0);
		await page.unroute("**/app/password");
		await page.unroute("**/app/waiting");
		await page.unroute("**/app/session");
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
	});
	await day.check("? lists the shortcuts", async () => {
		await page.keyboard.press("?");
		await page.waitForSelector("dl.shortcuts");
		await day.axe("shortcuts");
		await page.keyboard.press("Escape");
	});
}
