/*
 * memory: what a buyer does again and again leaves nothing behind. A round is
 * some minutes of use; what is alive is counted after a collection, and of
 * changes of supplier alone to the object.
 */
import assert from "node:assert/strict";
import {api, cell, chooseSupplier, LONG, open, rowsDrawn, SUPPLIER}
    from "./kit.mjs";

const FIRST = 2, MORE = LONG ? 6 : 3; /* rounds */
const CHANGES = LONG ? 20 : 8; /* of two suppliers */
/* In the long form for so long, told by the minute: an hour of a buyer and more. */
const LONG_MS = LONG ? 480000 : 0;
const TOLD_MS = 60000;
const MOST_MB = 1.5, MOST_NODES = 400; /* that the later rounds may add */
const MOST_OWNED_KB = 40, MOST_SAME_NODES = 10; /* the same, of suppliers */

async function round(page, other) {
	for (const gamme of ["B", ""]) {
		await page.click(`.choice label:has(input[name=gamme][value='${
			gamme}'])`);
		await rowsDrawn(page);
	}
	for (const name of ["totalQuantite", "totalCa"]) {
		await page.click(`.ag-header-cell[col-id=${name}] ` +
		    ".ag-header-cell-label");
		await rowsDrawn(page);
	}
	await cell(page, 1, "libelle1").click();
	await page.keyboard.press("Enter");
	await page.locator(".panel .plot canvas").first().waitFor();
	await page.keyboard.press("Escape");
	for (const opener of [".filters .summary", ".filters .columns",
	    ".filters button.quiet", ".top .inbox"]) {
		await page.click(opener);
		await page.locator("dialog[open]").waitFor();
		await page.keyboard.press("Escape");
		await page.locator("dialog").waitFor({state: "detached"});
	}
	await cell(page, 1, "libelle1").click();
	await page.keyboard.press("y");
	await page.keyboard.press("Control+z");
	await page.keyboard.press("Control+End");
	await page.keyboard.press("Control+Home");
	await rowsDrawn(page);
	for (const code of [other, SUPPLIER]) {
		await page.keyboard.press("f");
		await chooseSupplier(page, code);
		await page.waitForFunction((one) => document.querySelector(
		    ".supplier-name .code")?.textContent === one &&
		    location.hash.startsWith(`#${one}`), code);
		await rowsDrawn(page);
	}
}

/* Another supplier with rows. */
async function another() {
	const {json} = await api("GET", "/api/v1/fournisseurs?limit=1000");

	return json.data.find(({code}) => code !== SUPPLIER).code;
}

/* {mb, nodes} that are alive. */
async function alive(session) {
	await session.send("HeapProfiler.collectGarbage");
	await session.send("HeapProfiler.collectGarbage");
	const {usedSize} = await session.send("Runtime.getHeapUsage");
	const {nodes} = await session.send("Memory.getDOMCounters");

	return {mb: usedSize / 1048576, nodes};
}

/*
 * The same once it fits: rows, notices and answers are on their way out for a
 * moment. What is left behind never fits.
 */
async function settled(page, session, fits) {
	let one = await alive(session), last = null;

	for (let i = 0; i < 40 && !fits(one, last); i++) {
		await page.waitForTimeout(500);
		[last, one] = [one, await alive(session)];
	}
	return one;
}

/* What the page's script owns: not the code that V8 has compiled meanwhile. */
const OWNED = new Set(["object", "array", "string", "concatenated string",
    "sliced string", "closure", "regexp", "number", "symbol", "bigint",
    "object shape"]);

/* {kb, nodes} that are alive, of a heap snapshot by the kinds of OWNED. */
async function owned(session) {
	const {nodes} = await alive(session);
	const parts = [];
	const hear = ({chunk}) => parts.push(chunk);

	session.on("HeapProfiler.addHeapSnapshotChunk", hear);
	await session.send("HeapProfiler.takeHeapSnapshot");
	session.off("HeapProfiler.addHeapSnapshotChunk", hear);
	const {snapshot: {meta}, nodes: list} = JSON.parse(parts.join(""));
	const fields = meta.node_fields;
	const kind = fields.indexOf("type"), size = fields.indexOf("self_size");
	let bytes = 0;

	for (let at = 0; at < list.length; at += fields.length)
		if (OWNED.has(meta.node_types[kind][list[at + kind]]))
			bytes += list[at + size];
	return {kb: bytes / 1024, nodes};
}

/*
 * By the address: of each word that is typed the browser itself keeps a node,
 * in its list of what can be undone.
 */
async function changeSuppliers(page, other, count) {
	for (let i = 0; i < count; i++)
		for (const code of [other, SUPPLIER]) {
			await page.evaluate((one) => {
				location.hash = `#${one}`;
			}, code);
			await page.waitForFunction((one) => document
			    .querySelector(".supplier-name .code")
			    ?.textContent === one, code);
			await rowsDrawn(page);
		}
}

const isSame = (one, last) => one.nodes === last?.nodes &&
    Math.abs(one.mb - last.mb) < 0.1;

async function suppliers(day, browser) {
	await day.check("changes of supplier leave no object and no node",
	    async () => {
		const page = day.page = await open(browser);
		const session = await page.context().newCDPSession(page);
		const other = await another();

		await changeSuppliers(page, other, 3);
		await settled(page, session, isSame);
		const before = await owned(session);

		await changeSuppliers(page, other, CHANGES);
		await settled(page, session, ({nodes}) =>
		    nodes <= before.nodes);
		const after = await owned(session);

		console.log(`    ${(after.kb - before.kb).toFixed(1)} KB, ${
			after.nodes - before.nodes} nodes more`);
		assert.ok(after.kb - before.kb < MOST_OWNED_KB);
		assert.ok(after.nodes - before.nodes < MOST_SAME_NODES);
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
}

export async function memory(day, browser) {
	await suppliers(day, browser);
	await day.check("an hour's rounds leave no memory behind", async () => {
		const page = day.page = await open(browser);
		const session = await page.context().newCDPSession(page);
		const other = await another();
		const start = Date.now();
		const since = () => Date.now() - start;
		let rounds = 0, told = 0;
		const tell = (now) => console.log(`    ${rounds} rounds: ${
			now.mb.toFixed(2)} MB, ${now.nodes} nodes`);
		/* So many rounds, and as long as that. */
		const go = async (count, until_ms) => {
			for (let left = count; left > 0 || since() < until_ms;
			    left--) {
				await round(page, other);
				rounds++;
				if (since() < (told + 1) * TOLD_MS)
					continue;
				told++;
				tell(await settled(page, session, isSame));
			}
		};

		await go(FIRST, LONG_MS / 4);
		const before = await settled(page, session, isSame);

		tell(before);
		await go(MORE, LONG_MS);
		const after = await settled(page, session, ({mb, nodes}) =>
		    mb - before.mb < MOST_MB &&
		    nodes - before.nodes < MOST_NODES);

		tell(after);
		assert.ok(after.mb - before.mb < MOST_MB);
		assert.ok(after.nodes - before.nodes < MOST_NODES);
		assert.deepEqual(page.problems, []);
		await page.context().close();
	});
}
