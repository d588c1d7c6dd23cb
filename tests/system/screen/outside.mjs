/*
 * outside: the page where accounts of the organisation are let in, too. Run by
 * tests/system/screen_outside.sh with a server that stands for oauth2-proxy.
 */
import assert from "node:assert/strict";
import {Checks, chooseSupplier, host, logIn, openBrowser, openPage, rowsDrawn,
    SUPPLIER, until} from "./kit.mjs";

const browser = await openBrowser();
const day = new Checks();
const ACCOUNT = ".login-card button.account";

const page = day.page = await openPage(browser);
const shownUser = () => page.textContent("header.top .user-name");
const settingsText = async () => {
	await page.click("header.top button.user");
	await page.waitForSelector("dialog section.row");
	return page.textContent("dialog");
};

await day.check("who is signed in nowhere gets both ways in", async () => {
	await page.waitForSelector(`${ACCOUNT}:not([hidden])`);
	assert.ok(await page.isVisible("#password"));
	await day.axe("login-account");
});
await day.check("an account without a group is told so", async () => {
	await host("account", "otto", "staff");
	/* To sign in there, and back to this page, which tries at once. */
	await Promise.all([page.waitForResponse((reply) => reply.url()
	    .endsWith("/app/outside/session") && reply.status() === 403),
	page.click(ACCOUNT)]);
	await page.waitForSelector(`${ACCOUNT}:not([hidden])`);
	await page.click(ACCOUNT);
	await page.locator(".problem", {hasText: "n'a pas accès"}).waitFor();
	await page.context().clearCookies();
});
await day.check("one button, and the account is in, with its rights",
    async () => {
	await host("account", "zoe", "fruits");
	await page.click(ACCOUNT);
	await chooseSupplier(page, SUPPLIER);
	await rowsDrawn(page);
	assert.equal(await shownUser(), "zoe");
	const text = await settingsText();

	assert.match(text, /acheteur pour 12345/);
	assert.equal(await page.locator("dialog section.row button")
	    .filter({hasText: "mot de passe"}).isVisible(), false);
	await page.keyboard.press("Escape");
});
await day.check("a session that ended is begun anew without a word",
    async () => {
	await host("ctl", "user", "remove", "zoe");
	await page.fill(".search-box input", "lait");
	await until(() => page.evaluate(async () =>
	    (await fetch("/app/session")).status === 200));
	assert.equal(await page.locator("dialog.login").count(), 0);
	assert.equal(await shownUser(), "zoe");
});
await day.check("logging out ends both, and stays so", async () => {
	/* A question on its way finds the session ended, before the page knows. */
	await page.route("**/app/session", async (route) => {
		if (route.request().method() !== "DELETE")
			return route.continue();
		/* The cookie is gone; the page hears of it later. */
		const json = await (await route.fetch()).json();
		const late = page.waitForResponse((reply) =>
		    reply.status() === 401 && reply.url().includes("/pending"));

		await page.evaluate(() => dispatchEvent(new Event("focus")));
		await late;
		await page.evaluate(async () => {
			for (let i = 0; i < 5; i++)
				await fetch("/app/outside");
		});
		return route.fulfill({json});
	});
	await settingsText();
	await page.locator("dialog section.row button").filter(
	    {hasText: "déconnecter"}).click();
	await page.waitForSelector(`${ACCOUNT}:not([hidden])`);
	await page.unroute("**/app/session");
	const names = (await page.context().cookies())
	    .filter(({value}) => value !== "").map(({name}) => name);

	assert.deepEqual(names, []);
	await page.reload();
	await page.waitForSelector(`${ACCOUNT}:not([hidden])`);
});
await day.check("a password still lets its user in", async () => {
	await logIn(page);
	await page.waitForSelector("header.top .user-name");
	assert.equal(await shownUser(), "claire");
	assert.match(await settingsText(), /administrateur/);
});
await day.check("the page complained of nothing", () =>
    assert.deepEqual(page.problems, []));
await browser.close();
day.done();
