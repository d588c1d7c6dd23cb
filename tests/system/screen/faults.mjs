/* faults: a server that goes and comes, a session that ends, a slow supplier. */
import assert from "node:assert/strict";
import {another, api, cell, chooseSupplier, codeAt, firstRowIs, grid, hold,
    host, linesAre, logInAgain, product, ROWS, rowsDrawn, totalIs} from "./kit.mjs";
import {withoutPolls} from "./polls.mjs";

const searchFor = (page, words) => page.fill(".search-box input", words);

const first = async (words) => (await grid(
    `search=${words}&limit=1&fields=codein`)).data[0].codein;

async function connections(day) {
	const {page} = day;

	await day.check("the server restarts in mid-use: told, then it goes on",
	    async () => {
		await host("stop");
		await searchFor(page, "fromage");
		await page.waitForFunction(() => /serveur ne répond pas/.test(
		    document.querySelector(".connection:not([hidden])")
			?.textContent));
		await day.axe("offline");
		await host("start");
		await page.waitForSelector(".connection", {state: "hidden"});
		await firstRowIs(page, await first("fromage"));
	});
	await day.check("a lost network is told, and tried again",
	    async () => {
		await page.context().setOffline(true);
		await searchFor(page, "beurre");
		await page.waitForSelector(".connection:not([hidden])");
		await page.context().setOffline(false);
		await page.waitForSelector(".connection", {state: "hidden"});
		await firstRowIs(page, await first("beurre"));
	});
	await day.check("a server that is busy is not called unreachable",
	    async () => {
		const busy = {status: 503, contentType: "application/json",
		    headers: {"Retry-After": "1"},
		    body: JSON.stringify({error: {code: "internal_error",
			message: "Too many large answers are under way."}})};
		const codein = await codeAt(page, 0);
		const {codeGamme} = await product(codein);

		await page.route("**/api/v1/**", (route) => route.fulfill(busy));
		await searchFor(page, "chocolat");
		await page.waitForFunction(() => /serveur est occupé/.test(
		    document.querySelector(".connection:not([hidden])")
			?.textContent));
		await page.unroute("**/api/v1/**");
		await page.waitForSelector(".connection", {state: "hidden"});
		await firstRowIs(page, await first("chocolat"));
		await searchFor(page, "beurre");
		await firstRowIs(page, codein);
		await page.route("**/app/save", (route) => route.fulfill(busy),
		    {times: 1});
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press(another(codeGamme).toLowerCase());
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForFunction(() => /occupé.*n'a rien fait.*Too many/
		    .test(document.querySelector("dialog .problem")
			.textContent));
		await page.keyboard.press("Escape");
		await page.keyboard.press("Control+z");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		assert.equal((await product(codein)).codeGamme, codeGamme);
	});
	await day.check("an answer lost on the way: told, and not done twice",
	    async () => {
		const codein = await codeAt(page, 0);
		const wanted = another((await product(codein)).codeGamme);
		let asked = 0;

		await page.route("**/app/save", async (route) => {
			await route.fetch();
			asked++;
			await route.abort();
		}, {times: 1});
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press(wanted.toLowerCase());
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForFunction(() => /on ne sait pas/.test(
		    document.querySelector("dialog .problem").textContent));
		await day.axe("unsure");
		assert.equal(asked, 1);
		assert.equal((await product(codein)).codeGamme, wanted);
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal((await product(codein)).codeGamme, wanted);
		await page.waitForSelector(".gamme.mine", {state: "detached"});
	});
}

async function sessions(day) {
	const {page} = day;

	await withoutPolls(page);
	await day.check("a session that ended: log in, and go on with one's edits",
	    async () => {
		const {codeGamme} = await product(await codeAt(page, 1));

		await cell(page, 1, "libelle1").click();
		await page.keyboard.press(another(codeGamme).toLowerCase());
		await linesAre(page, 1);
		await host("expire");
		await searchFor(page, "rhum");
		await page.waitForSelector("dialog.login");
		await day.axe("session-ended");
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
		assert.ok(await page.isVisible("dialog.login"));
		await logInAgain(page);
		await firstRowIs(page, await first("rhum"));
		assert.match(await page.textContent(".foot .counts"),
		    /1 modification/);
	});
	await day.check("it ends below an open window: that one goes on, too",
	    async () => {
		const asked = /\/(api\/|app\/(?!session))/, held = [];
		let holding = true;

		await page.keyboard.press("Control+s");
		await page.waitForSelector("dialog[open]");
		/* Save is to find it out, not what the page asks of its own. */
		await page.route(asked, (route) =>
		    holding && route.request().method() === "GET" ?
			held.push(route) : route.continue());
		await host("expire");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog.login");
		/* In this order: whoever is held is let go once, by us. */
		holding = false;
		await Promise.all(held.map((route) => route.continue()));
		await page.unroute(asked);
		await logInAgain(page);
		await page.waitForSelector("dialog", {state: "detached"});
		assert.equal(await page.textContent(".foot .counts"), "");
	});
	await day.check("edits are found again after the page was closed",
	    async () => {
		await searchFor(page, "");
		await totalIs(page, ROWS);
		const {codeGamme} = await product(await codeAt(page, 2));

		await cell(page, 2, "libelle1").click();
		await page.keyboard.press(another(codeGamme).toLowerCase());
		await page.waitForSelector(".gamme.mine");
		await page.reload();
		await page.waitForSelector(".gamme.mine");
		await cell(page, 2, "libelle1").click();
		await page.keyboard.press("Delete");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
	});
}

async function onDemand(day) {
	const {page} = day;

	await day.check("a supplier is computed on demand, with its progress",
	    async () => {
		const {json} = await api("GET", "/api/v1/fournisseurs");
		const {code} = json.data.find((one) => !one.hasSnapshot);
		const GRID = "**/api/v1/grid?*";
		const busy = (route) => route.fulfill({status: 202,
		    headers: {"Retry-After": "2"},
		    contentType: "application/json",
		    body: '{"error":{"code":"not_ready","message":""}}'});

		/* Until that has been seen, and looked at. */
		await page.route(GRID, busy);
		await page.click("button.supplier");
		await chooseSupplier(page, code);
		await page.waitForFunction(() => /nouvel essai dans/.test(
		    document.querySelector(".rows-state").textContent));
		await day.axe("computing-busy");
		const made = await hold(page, GRID);

		await page.unroute(GRID, busy);
		await page.waitForFunction(() => /depuis \d+ s/.test(
		    document.querySelector(".rows-state").textContent));
		await day.shot("computing");
		await made.letGo();
		await rowsDrawn(page);
		await page.waitForSelector(".tree > li");
		assert.ok((await api("GET", `/api/v1/fournisseurs?search=${code}`))
		    .json.data[0].hasSnapshot);
	});
}

export async function faults(day) {
	await connections(day);
	await sessions(day);
	await onDemand(day);
}
