/* settings: API keys, and the window of shortcuts. */
import assert from "node:assert/strict";
import {api} from "./kit.mjs";

export async function settings(day) {
	const {page} = day;
	const suppliers = (key) => api("GET", "/api/v1/fournisseurs?limit=1",
	    undefined, key);

	await day.check("a key is made, used, revoked, and then refused",
	    async () => {
		await page.click("header.top button.quiet");
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
		await page.click("header.top button.quiet");
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
	await day.check("a name that is taken is told in the window",
	    async () => {
		await page.click("header.top button.quiet");
		await page.fill("#key-name", "agent-gammes");
		await page.click("form.row .primary");
		await page.waitForSelector(".problem:not(:empty)");
		await page.keyboard.press("Escape");
	});
	await day.check("? lists the shortcuts", async () => {
		await page.keyboard.press("?");
		await page.waitForSelector("dl.shortcuts");
		await day.axe("shortcuts");
		await page.keyboard.press("Escape");
	});
}
