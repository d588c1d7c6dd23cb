/*
 * together: one buyer in two windows of a browser, and on two computers: edits
 * are merged by what both had, and told; and edits whose article is gone.
 */
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {another, cell, codeAt, hold, host, keptIs, keptNow, linesAre, lookAgain,
    mineAt, open, product, rowsDrawn, setRow, SUPPLIER, until, wasTold} from
    "./kit.mjs";

const MERGING = new URL("../../../nginx/html/js/merging.js", import.meta.url);

/* --- by what both had ------------------------------------------------------ */

const editsOf = (text) => new Map(text.split(" ").filter((one) => one !== "")
    .map(([codein, gamme]) => [codein, {codein, gamme, codeGamme: "Z",
	gammeAValider: null}]));

const inText = (edits) => [...edits.values()].filter((one) => one !== null)
    .map(({codein, gamme}) => codein + gamme).sort().join(" ");

/* [what both had, here, there, what stands, taken from there, met] */
const MERGES = [
	["", "", "", "", "", ""],
	["", "1A", "", "1A", "", ""],
	["", "", "1A", "1A", "1", ""],
	["", "1A", "2B", "1A 2B", "2", ""],
	["1A 2B", "1A", "1A 2B", "1A", "", ""],
	["1A 2B", "1A 2B", "2B", "2B", "1", ""],
	["1A", "1B", "1A", "1B", "", ""],
	["1A", "1A", "1B", "1B", "1", ""],
	["1A", "1B", "1B", "1B", "", ""],
	["1A", "1B", "1C", "1B", "", "1"],
	["", "1A", "1B", "1A", "", "1"],
	["1A", "", "1B", "1B", "", "1"],
	["1A", "1B", "", "1B", "", "1"],
	["1A", "", "", "", "", ""],
];

async function merging(day) {
	await day.check("edits of two sides are merged by what both had",
	    async () => {
		const {isSame, merge} = await import("data:text/javascript," +
		    encodeURIComponent(await readFile(MERGING, "utf8")));

		for (const [base, here, there, stands, taken, met] of MERGES) {
			const [common, mine, theirs] =
			    [base, here, there].map(editsOf);
			const since = new Map([...new Set([...common.keys(),
			    ...mine.keys()])].filter((codein) => !isSame(
			    common.get(codein), mine.get(codein)))
			    .map((codein) => [codein,
				common.get(codein) ?? null]));
			const now = merge(mine, since, theirs);
			const codes = (list) => list.map((one) => one.codein)
			    .join(" ");
			const of = `${base} | ${here} | ${there}`;

			assert.equal(inText(now.edits), stands, of);
			assert.equal(codes(now.taken), taken, of);
			assert.equal(codes(now.met), met, of);
			/* What is still to be kept differs from theirs. */
			for (const [codein, other] of now.since)
				assert.ok(!isSame(other, now.edits.get(codein)) &&
				    isSame(other, theirs.get(codein)), of);
		}
	});
}

/* --- two computers --------------------------------------------------------- */

async function computers(day, browser) {
	const page = day.page = await open(browser, {notes: true});
	const codes = [await codeAt(page, 0), await codeAt(page, 1),
	    await codeAt(page, 2)];
	const now = await Promise.all(codes.map(product));
	const first = now.map(({codeGamme}) => another(codeGamme));
	const then = now.map(({codeGamme}, i) => another(codeGamme, first[i]));
	const third = another(now[0].codeGamme, first[0], then[0]);
	let other;

	await day.check("an article that two computers change: told, and turned over",
	    async () => {
		await setRow(page, 0, first[0]);
		await linesAre(page, 1);
		other = await open(browser, {keep: true, notes: true});
		await mineAt(other, 0, first[0]);
		await wasTold(other, ["1 modification non enregistrée retrouvée",
		    codes[0], first[0]]);
		await other.context().setOffline(true);
		await setRow(other, 0, then[0]);
		await setRow(other, 1, first[1]);
		await setRow(page, 0, third);
		await keptIs(page, (value) => value.startsWith(
		    `${codes[0]}\t${third}`));
		await other.context().setOffline(false);
		await wasTold(other, [codes[0], `${then[0]} ici`,
		    `${third} ailleurs`, `${then[0]} reste`]);
		await linesAre(page, 2);
		await lookAgain(page);
		await mineAt(page, 0, then[0]);
		await mineAt(page, 1, first[1]);
		await wasTold(page, [codes[0], third, then[0], codes[1]]);
		await other.click(".notice.error button.link");
		await mineAt(other, 0, third);
		await keptIs(page, (value) => value.includes(
		    `${codes[0]}\t${third}`));
		await lookAgain(page);
		await mineAt(page, 0, third);
	});
	await day.check("what is saved here leaves what is edited there meanwhile",
	    async () => {
		await other.context().setOffline(true);
		await setRow(other, 1, then[1]);
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		await linesAre(page, 0);
		await other.context().setOffline(false);
		await linesAre(page, 1);
		await mineAt(other, 0, null);
		await mineAt(other, 1, then[1]);
		await wasTold(other, [codes[1], `${then[1]} reste`]);
		assert.equal((await product(codes[1])).codeGamme, first[1]);
	});
	await day.check("a step is undone unless another computer changed it",
	    async () => {
		await setRow(other, 2, first[2]);
		await linesAre(page, 2);
		await lookAgain(page);
		await mineAt(page, 2, first[2]);
		await setRow(page, 2, then[2]);
		await keptIs(page, (value) => value.includes(
		    `${codes[2]}\t${then[2]}`));
		await lookAgain(other);
		await mineAt(other, 2, then[2]);
		await cell(other, 2, "libelle1").click();
		await other.keyboard.press("Control+z");
		await wasTold(other, ["Rien à défaire"]);
		await mineAt(other, 2, then[2]);
		await page.keyboard.press("Control+z");
		await mineAt(page, 2, first[2]);
	});
	assert.deepEqual([...page.problems, ...other?.problems ?? []], []);
	await other?.context().close();
	await page.context().close();
}

/* --- two windows of a browser ---------------------------------------------- */

async function windows(day, browser) {
	const page = day.page = await open(browser, {notes: true});
	const other = await page.context().newPage();
	const row = (n) => codeAt(page, n);
	const fresh = async (n) => another((await product(await row(n)))
	    .codeGamme);

	await other.goto(page.url());
	await rowsDrawn(other);
	await day.check("edits of two windows stand in both, and on the server",
	    async () => {
		const wanted = await Promise.all([0, 1].map(fresh));

		/* At once: neither has heard of the other's. */
		await Promise.all([setRow(page, 0, wanted[0]),
		    setRow(other, 1, wanted[1])]);
		for (const one of [page, other])
			for (const n of [0, 1])
				await mineAt(one, n, wanted[n]);
		await linesAre(page, 2);
	});
	await day.check("what one window edits, the other saves",
	    async () => {
		await other.keyboard.press("Control+s");
		await other.click("dialog footer .primary");
		await other.waitForSelector("dialog", {state: "detached"});
		await mineAt(page, 0, null);
		await mineAt(page, 1, null);
		await linesAre(page, 0);
	});
	await day.check("F5 without a connection to the server's edits loses none",
	    async () => {
		const wanted = await fresh(2);
		const refuse = (route) => route.abort();

		await page.context().route("**/app/kept/mine/**", refuse);
		await setRow(page, 2, wanted);
		await mineAt(other, 2, wanted);
		await setRow(other, 3, await fresh(3));
		await page.close();
		await other.reload();
		await rowsDrawn(other);
		await mineAt(other, 2, wanted);
		await other.context().unroute("**/app/kept/mine/**", refuse);
		await other.evaluate(() => dispatchEvent(new Event("online")));
		await linesAre(other, 2);
	});
	day.page = other;
	await other.context().close();
}

/* --- articles and suppliers that are gone ---------------------------------- */

const WITHOUT_ARTICLE = "90909";

async function gone(day, browser) {
	const page = day.page = await open(browser, {notes: true});
	const codes = [await codeAt(page, 0), await codeAt(page, 1)];
	const now = await Promise.all(codes.map(product));
	const wanted = now.map(({codeGamme}) => another(codeGamme));
	const asksAfter = (request) => request.url().includes("codein=in.");

	await day.check("an edit whose article is gone is told, and stays",
	    async () => {
		for (const n of [0, 1])
			await setRow(page, n, wanted[n]);
		await linesAre(page, 2);
		/* The first answer is of before, and comes last. */
		let asked = 0;
		const late = await hold(page, "**/api/v1/grid?*", (request) =>
		    asksAfter(request) && asked++ === 0);

		await lookAgain(page);
		await late.holds(1);
		await host("without", `${SUPPLIER},${codes[0]}`);
		await lookAgain(page);
		await wasTold(page, ["n'a plus cet article", codes[0]]);
		await late.letGo();
		assert.equal(await page.locator("[data-about=gone]").count(), 1);
		assert.equal((await keptNow(page)).split("\n").length, 2);
		await day.axe("gone");
	});
	await day.check("Save ends, and tells of the article that is gone",
	    async () => {
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog .conflicts");
		assert.match(await page.textContent("dialog .conflicts"),
		    /n'a plus cet article/);
		assert.equal(await page.locator("dialog footer button")
		    .filter({hasText: "Enregistrer"}).count(), 0);
		assert.equal((await product(codes[1])).codeGamme, wanted[1]);
		await page.click("dialog footer .primary");
		await linesAre(page, 1);
	});
	await day.check("after F5 it is told again, and can be dropped",
	    async () => {
		await page.reload();
		await rowsDrawn(page);
		await wasTold(page, ["n'a plus cet article", codes[0]]);
		await page.click(".notice.error button.link");
		await linesAre(page, 0);
		await page.waitForSelector("[data-about=gone]",
		    {state: "detached"});
		assert.equal(await page.textContent(".foot .counts"), "");
	});
	await day.check("edits of a supplier that is gone are told, and dropped",
	    async () => {
		await page.evaluate((code) => fetch(
		    `/app/kept/mine/drafts.${code}`, {method: "PUT", headers:
			{"Content-Type": "application/json"}, body: JSON
			.stringify({value: "1\tA\t\t", version: 0})}),
		WITHOUT_ARTICLE);
		await host("without", WITHOUT_ARTICLE);
		await page.reload();
		await wasTold(page, ["ces fournisseurs", WITHOUT_ARTICLE]);
		await page.click("[data-about=gone-suppliers] button.link");
		await until(() => page.evaluate(async (code) => (await fetch(
		    `/app/kept/mine/drafts.${code}`)).status === 404,
		WITHOUT_ARTICLE));
	});
	assert.deepEqual(page.problems, []);
	await host("without");
	await page.context().close();
}

export async function together(day, browser) {
	await merging(day);
	await computers(day, browser);
	await windows(day, browser);
	await gone(day, browser);
}
