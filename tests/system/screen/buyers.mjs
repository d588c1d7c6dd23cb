/*
 * buyers: two buyers and a script at the same rows, with lost answers, a session
 * that ends and a new generation. In the end the API's feed has each decision
 * that the server acknowledged exactly once, and each edit is decided, told as
 * gone, or still there.
 */
import assert from "node:assert/strict";
import {another, api, cell, codeAt, host, keptNow, linesAre, logInAgain,
    lookAgain, mineAt, open, product, propose, setRow, SUPPLIER, tick,
    wasTold} from "./kit.mjs";
import {withoutPolls} from "./polls.mjs";

const OTHER = "lea";
const ROWS = 8;

/* Entries of the feed, the oldest first, from `since` on. */
async function feed(since) {
	const {status, json} = await api("GET", `/api/v1/propositions?fournisseur=${
	    SUPPLIER}&order=asc&limit=10000${since ? `&depuis=${since}` : ""}`);

	assert.equal(status, 200);
	return json;
}

/*
 * What the server has acknowledged to this page, and what it has done although
 * the answer was lost: "codein gamme" each, as the feed has them.
 */
function listen(page) {
	const done = [], lost = [];

	/* An edit that is saved over a proposal rejects it, too. */
	const entries = ({codein, gamme, gammeAValider}) =>
	    [gamme, ...gammeAValider && gammeAValider !== gamme ?
		[gammeAValider] : []].map((one) => `${codein} ${one}`);
	const note = (list, {edits = [], proposals = []}, {data}) => {
		const applied = new Set(data.filter(({result}) =>
		    result === "applied").map(({codein}) => codein));

		list.push(...[...edits, ...proposals].filter(({codein}) =>
		    applied.has(codein)).flatMap(entries));
	};

	page.on("response", async (response) => {
		const request = response.request();

		if (!/\/app\/(save|cancel)$/.test(request.url()) ||
		    response.status() !== 200)
			return;
		await response.json().then((json) =>
		    note(done, request.postDataJSON(), json));
	});
	return {done, lost,
		/* The server does it, and the page never hears. */
		loseAnswer: () => page.route("**/app/save", async (route) => {
			const answer = await route.fetch();

			note(lost, route.request().postDataJSON(),
			    await answer.json());
			await route.abort();
		}, {times: 1})};
}

const closed = (page) => page.waitForSelector("dialog", {state: "detached"});

async function saveRows(page, rows) {
	for (const row of rows)
		await tick(page, row);
	await page.keyboard.press("Control+s");
	await page.click("dialog footer .primary");
}

const conflictTold = (page) => page.waitForFunction(() =>
    /quelqu'un d'autre/.test(document.querySelector("dialog h2")?.textContent));

const rangeIs = async (codein, gamme) =>
    assert.equal((await product(codein)).codeGamme, gamme);

export async function buyers(day, browser) {
	await host("user", OTHER);
	const claire = day.page = await open(browser, {notes: true});
	const lea = await open(browser, {notes: true, user: OTHER});

	await withoutPolls(claire);
	const codes = [], was = [];

	for (let row = 0; row < ROWS; row++) {
		codes.push(await codeAt(claire, row));
		was.push((await product(codes[row])).codeGamme);
	}
	const one = was.map((gamme) => another(gamme));
	const two = was.map((gamme, i) => another(gamme, one[i]));
	const heard = [listen(claire), listen(lea)];
	const begin = (await feed()).meta.suivant;

	await day.check("two buyers change one article: the second is told",
	    async () => {
		await setRow(claire, 0, one[0]);
		await setRow(lea, 0, two[0]);
		await saveRows(claire, [0]);
		await closed(claire);
		await saveRows(lea, [0]);
		await conflictTold(lea);
		assert.match(await lea.textContent("dialog .conflicts"),
		    /claire/);
		await rangeIs(codes[0], one[0]);
		await lea.keyboard.press("Escape");
		await mineAt(lea, 0, two[0]);
	});
	await day.check("a script proposes, one buyer accepts, one rejects at once",
	    async () => {
		await propose(codes[1], one[1]);
		for (const page of [claire, lea]) {
			await lookAgain(page);
			await cell(page, 1, "codeGamme").locator(".proposal")
			    .waitFor();
			await cell(page, 1, "codein").click();
		}
		/* Neither decision arrives before both have been sent. */
		const DECISION = /\/app\/(save|cancel)$/;
		let sent = 0, meet;
		const met = new Promise((done) => {
			meet = done;
		});

		for (const page of [claire, lea])
			await page.route(DECISION, async (route) => {
				if (++sent === 2)
					meet();
				await met;
				return route.continue();
			});
		const answered = (page) => page.waitForResponse((reply) =>
		    DECISION.test(reply.url()));
		const [saved, cancelled] = (await Promise.all([
		    answered(claire), answered(lea),
		    claire.keyboard.press("+"), lea.keyboard.press("-")]))
		    .slice(0, 2);
		const results = [(await saved.json()).data[0].result,
		    (await cancelled.json()).data[0].result];

		assert.equal(results.filter((result) => result === "applied")
		    .length, 1, results.join());
		const [accepted] = results;

		await rangeIs(codes[1], accepted === "applied" ? one[1] : was[1]);
		/* Who came second sees what became of it. */
		const second = accepted === "applied" ? lea : claire;

		await second.locator(".notice.error").filter(
		    {hasText: "quelqu'un d'autre"}).locator(".link").click();
		await conflictTold(second);
		await second.keyboard.press("Escape");
		for (const page of [claire, lea])
			await page.unroute(DECISION);
	});
	await day.check("a proposal below an edit is told before it is overwritten",
	    async () => {
		await setRow(lea, 2, one[2]);
		await propose(codes[2], two[2]);
		await saveRows(lea, [2]);
		await conflictTold(lea);
		assert.match(await lea.textContent("dialog .conflicts"),
		    /agent-gammes/);
		assert.equal((await product(codes[2])).gammeAValider, two[2]);
		await lea.click("dialog footer button:has-text('le mien')");
		await lea.click("dialog footer .primary");
		await closed(lea);
		await rangeIs(codes[2], one[2]);
	});
	await day.check("a Save whose answer is lost is done once",
	    async () => {
		await setRow(claire, 3, one[3]);
		await heard[0].loseAnswer();
		await saveRows(claire, [3]);
		await claire.waitForFunction(() => /connexion s'est perdue/
		    .test(document.querySelector("dialog .problem")
			.textContent));
		await rangeIs(codes[3], one[3]);
		await claire.click("dialog footer .primary");
		await closed(claire);
		await mineAt(claire, 3, null);
	});
	await day.check("edits of a lost connection are kept when it is back",
	    async () => {
		await lea.context().setOffline(true);
		await setRow(lea, 4, one[4]);
		await setRow(claire, 4, two[4]);
		await saveRows(claire, [4]);
		await closed(claire);
		await lea.context().setOffline(false);
		/* That of row 0, too. */
		await linesAre(lea, 2);
		await saveRows(lea, [4]);
		await conflictTold(lea);
		await rangeIs(codes[4], two[4]);
		await lea.keyboard.press("Escape");
	});
	await day.check("a session that ends in a Save: logged in, saved once",
	    async () => {
		await setRow(claire, 5, one[5]);
		await linesAre(claire, 1);
		await tick(claire, 5);
		await claire.keyboard.press("Control+s");
		await host("expire");
		await claire.click("dialog footer .primary");
		await claire.waitForSelector("dialog.login");
		await logInAgain(claire);
		await closed(claire);
		await rangeIs(codes[5], one[5]);
	});
	await day.check("a new generation while both edit: told, and the rest saved",
	    async () => {
		await setRow(claire, 6, one[6]);
		await setRow(claire, 7, one[7]);
		await setRow(lea, 7, two[7]);
		await host("without", `${SUPPLIER},${codes[7]}`);
		for (const page of [claire, lea]) {
			await lookAgain(page);
			await wasTold(page, ["n'a plus cet article", codes[7]]);
		}
		await saveRows(claire, [6, 7]);
		await claire.waitForSelector("dialog .conflicts");
		await claire.keyboard.press("Escape");
		await rangeIs(codes[6], one[6]);
		await linesAre(claire, 1);
		await linesAre(lea, 3);
	});
	await day.check("the feed has each acknowledged decision once, no edit is lost",
	    async () => {
		await host("without");
		const {data} = await feed(begin);
		const decided = data.filter(({decideePar}) =>
		    ["claire", OTHER].includes(decideePar))
		    .map(({codein, gamme}) => `${codein} ${gamme}`);

		for (const {done, lost} of heard)
			for (const what of [...done, ...lost])
				assert.equal(decided.filter((entry) =>
				    entry === what).length, 1, what);
		assert.equal(new Set(decided).size, decided.length);
		assert.equal(decided.length, heard.flatMap(({done, lost}) =>
		    [...done, ...lost]).length);
		const kept = await Promise.all([claire, lea].map(keptNow));

		assert.deepEqual(kept.map((text) => text.split("\n")
		    .map((line) => line.split("\t").slice(0, 2).join(" ")).sort()),
		[[`${codes[7]} ${one[7]}`], [`${codes[0]} ${two[0]}`,
		    `${codes[4]} ${one[4]}`,
		    `${codes[7]} ${two[7]}`].sort()]);
		assert.deepEqual([...claire.problems, ...lea.problems], []);
	});
	await claire.context().close();
	await lea.context().close();
}
