/*
 * The page of the interface description: "Try it out" as a reader finds it.
 * Nothing is filled in but a key. Run by tests/system/docs_page.sh.
 */
import assert from "node:assert/strict";
import {Checks, openBrowser, ROWS} from "./kit.mjs";

const {GRID_URL, GRID_KEY} = process.env;
const browser = await openBrowser();
const day = new Checks();
const page = await (await browser.newContext()).newPage();

day.page = page;
page.setDefaultTimeout(Number(process.env.GRID_PATIENCE_MS ?? 60000));

/* Opens an operation and presses Execute: its request, and the answer. */
async function tryOut(path) {
	const block = page.locator(".opblock-get").filter(
	    {has: page.locator(`[data-path="${path}"]`)}).first();

	await block.locator(".opblock-summary-control").click();
	const answer = page.waitForResponse((reply) =>
	    new URL(reply.url()).pathname === `/api/v1${path}`);

	await block.locator("button.execute").click();
	await block.locator(".live-responses-table .response-col_status")
	    .first().waitFor();
	return {block, reply: await answer};
}

await day.check("a key is entered", async () => {
	await page.goto(`${GRID_URL}/docs/`);
	await page.click(".auth-wrapper .authorize");
	await page.fill(".auth-container input", GRID_KEY);
	await page.click(".auth-btn-wrapper .authorize");
	await page.click(".auth-btn-wrapper .btn-done");
});
await day.check("Execute of GET /grid gets rows, as it is opened", async () => {
	const {block, reply} = await tryOut("/grid");
	const asked = new URL(reply.url());

	assert.equal(reply.status(), 200, await reply.text());
	assert.equal(asked.origin, new URL(GRID_URL).origin);
	assert.match(await block.locator(".live-responses-table " +
	    ".response-col_status").nth(1).textContent(), /^200/);
	const {data, pagination} = await reply.json();

	assert.ok(data.length > 0);
	/* No example of a filter, or of a generation, is sent. */
	assert.equal(pagination.total, ROWS);
});
for (const path of ["/fournisseurs", "/nomenclatures", "/grid/aggregates",
    "/propositions", "/magasins"])
	await day.check(`Execute of GET ${path} is a 200, as it is opened`,
	    async () => {
		const {reply} = await tryOut(path);

		assert.equal(reply.status(), 200, await reply.text());
	});
await browser.close();
day.done();
