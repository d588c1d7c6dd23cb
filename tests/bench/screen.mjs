/*
 * How fast the Grid screen is on the supplier of 130,000, in the browser:
 * `make bench-screen`, or
 *
 *	GRID_LONG=1 tests/system/screen.sh tests/bench/screen.mjs
 *
 * prints each figure beside what it must stay below. What the page's own
 * thread computes is told as well: that does not depend on what else runs on
 * the machine. GRID_FIGURES names a file for the figures: screen_beside.sh
 * compares two pages by theirs.
 */
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import {chooseSupplier, hangUp, logIn, openBrowser, openPage, ROWS, rowsDrawn,
    SUPPLIER} from "../system/screen/kit.mjs";

const JUMPS = 60, LOGINS = 5, TIMES = 9;
const figures = [];
let failed = 0;

function tell(name, value, unit, most) {
	const fine = value <= most;

	figures.push({name, value, unit});

	failed += !fine;
	console.log(`${fine ? "ok " : "NOT"}  ${name.padEnd(46)} ${
	    value.toFixed(1).padStart(8)} ${unit}  (at most ${most})`);
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/*
 * The second visit, as on every working day: the supplier is remembered, the
 * session has ended. From the press on Enter to the first row with its label.
 */
async function comeBack(context) {
	await context.clearCookies();
	const page = await context.newPage();

	page.setDefaultTimeout(60000);
	await page.goto(process.env.GRID_URL);
	await page.waitForSelector(".login-card");
	await page.fill("#user", process.env.GRID_USER);
	await page.fill("#password", process.env.GRID_PASSWORD);
	const start = Date.now();

	await page.keyboard.press("Enter");
	await rowsDrawn(page);
	return {page, took: Date.now() - start};
}

async function logins(context) {
	const took = [];
	let last = null;

	for (let i = 0; i < LOGINS; i++) {
		await last?.close();
		const one = await comeBack(context);

		took.push(one.took);
		last = one.page;
	}
	tell("login to first rows, password check included", median(took),
	    "ms", 1000);
	tell("the slowest login", Math.max(...took), "ms", 3000);
	return last;
}

/*
 * In the page: jump(row) moves the scroll bar to a row, and resolves to the
 * milliseconds until all rows in sight have their labels and are painted.
 */
function inPage() {
	const view = document.querySelector(".ag-body-vertical-scroll-viewport");
	const height = document.querySelector(".ag-row").offsetHeight;
	const drawn = (top, bottom) => {
		for (let row = top; row < bottom; row++)
			if (!document.querySelector(`.ag-row[row-index="${row}"]` +
			    ":not(.row-waits) .kind-label")?.textContent)
				return false;
		return true;
	};

	window.jump = (row) => new Promise((resolve) => {
		const start = performance.now();
		const rows = Math.floor(view.clientHeight / height);
		const look = () => drawn(row, row + rows) ?
		    requestAnimationFrame(() =>
			resolve(performance.now() - start)) :
		    requestAnimationFrame(look);

		view.scrollTop = row * height;
		look();
	});
}

/* What the page's thread computed so far, waiting left out, in ms. */
async function cpuClock(page) {
	const session = await page.context().newCDPSession(page);

	await session.send("Performance.enable", {timeDomain: "threadTicks"});
	return async () => {
		const {metrics} = await session.send("Performance.getMetrics");

		return metrics.find(({name}) => name === "TaskDuration")
		    .value * 1000;
	};
}

async function jumps(page, cpu) {
	const took = [], computed = [];

	for (let i = 0; i < JUMPS; i++) {
		const before = await cpu();

		took.push(await page.evaluate((row) => jump(row),
		    (i * 48271 + 7919) % (ROWS - 40)));
		computed.push(await cpu() - before);
	}
	tell("a jump: what the page computes for it, median",
	    median(computed), "ms", 150);
	tell("jump to any place until all rows are drawn, median",
	    median(took), "ms", 150);
	tell("the slowest jump", Math.max(...took), "ms", 1000);
}

/*
 * The longest task of the page's thread while run() goes on, in ms of its
 * processor time: what else runs on the machine does not count.
 */
async function longest(run) {
	await browser.startTracing(page, {categories: ["toplevel"]});
	await run();
	const {traceEvents} = JSON.parse(String(await browser.stopTracing()));
	const threads = new Set(traceEvents.filter(({name, args}) =>
	    name === "thread_name" && args.name === "CrRendererMain")
	    .map(({pid, tid}) => `${pid}/${tid}`));
	const tasks = traceEvents.filter(({name, pid, tid, tdur}) =>
	    name === "ThreadControllerImpl::RunTask" && tdur > 0 &&
	    threads.has(`${pid}/${tid}`)).map(({tdur}) => tdur / 1000);

	if (tasks.length === 0)
		throw new Error("Chromium has traced no task");
	return Math.max(...tasks);
}

/* A turn of the wheel and the frames after it hold every task it makes. */
async function turns(page, cpu) {
	let most = 0;

	for (let i = 0; i < 60; i++) {
		const before = await cpu();

		await page.mouse.wheel(0, 400);
		await page.evaluate(() => new Promise((done) =>
		    requestAnimationFrame(() => requestAnimationFrame(done))));
		most = Math.max(most, await cpu() - before);
	}
	tell("a turn of the wheel: most that the page computes", most,
	    "ms", 100);
}

/* By the wheel, row after row, and by the scroll bar, as fast as it goes. */
async function scrolling(page, cpu) {
	await page.evaluate(() => jump(0));
	await page.waitForTimeout(300);
	await page.mouse.move(700, 400);
	await turns(page, cpu);
	tell("longest task while scrolling by the wheel", await longest(
	    async () => {
		for (let i = 0; i < 200; i++)
			await page.mouse.wheel(0, 400);
		await page.waitForTimeout(500);
	    }), "ms", 50);
	tell("longest task while dragging through everything", await longest(
	    () => page.evaluate(async (rows) => {
		const view = document.querySelector(
		    ".ag-body-vertical-scroll-viewport");
		const height = document.querySelector(".ag-row").offsetHeight;

		for (let i = 0; i < 300; i++) {
			view.scrollTop = i / 300 * rows * height;
			await new Promise(requestAnimationFrame);
		}
	}, ROWS).then(() => page.waitForTimeout(1000))), "ms", 50);
	await page.evaluate(() => jump(0));
}

/* From the act to the first row of another order or filter, drawn. */
const until = (act, page) => page.evaluate(async (words) => {
	const first = () => document.querySelector('.ag-row[row-index="0"]' +
	    ":not(.row-waits) [col-id=codein]")?.textContent;
	const before = first(), start = performance.now();

	document.querySelector(words).click();
	while (!first() || first() === before)
		await new Promise(requestAnimationFrame);
	return performance.now() - start;
}, act);

const head = (name) => `.ag-header-cell[col-id=${name}] .ag-header-cell-label`;

async function orders(page) {
	const sorts = [], filters = [];

	for (let i = 0; i < TIMES; i++) {
		sorts.push(await until(head(i % 2 ? "totalCa" : "codein"), page));
		filters.push(await until(`.choice input[name=gamme][value=${
			i % 2 ? "A" : "C"}]`, page));
	}
	tell("a sort of the filtered rows, median", median(sorts), "ms", 400);
	tell("a filter by range, median", median(filters), "ms", 400);
	await page.evaluate(() => document.querySelector(
	    ".choice input[name=gamme][value='']").click());
	await rowsDrawn(page);
}

/* All rows as a workbook: from the button to the file, all of it there. */
async function exports(page) {
	await page.locator("#articles .ag-cell").first().click();
	await page.keyboard.press("e");
	await page.waitForSelector("dialog .formats");
	const start = Date.now();
	const [file] = await Promise.all([page.waitForEvent("download"),
	    page.click("dialog footer .primary")]);

	tell("export of all rows to xlsx", Date.now() - start, "ms", 20000);
	tell("its size", fs.statSync(await file.path()).size / 1048576, "MB",
	    60);
}

/* What the browser fetches for the page: its files, as nginx packs them. */
function bundle() {
	const {GRID_HTML} = process.env;
	const files = fs.readdirSync(GRID_HTML)
	    .filter((name) => /\.(js|css|html|svg)$/.test(name))
	    .map((name) => fs.readFileSync(path.join(GRID_HTML, name)));
	const sum = (sizes) => sizes.reduce((all, size) => all + size, 0) / 1024;

	tell("the page's files", sum(files.map(({length}) => length)), "KB",
	    1300);
	tell("the same on the wire, gzip", sum(files.map((data) =>
	    zlib.gzipSync(data, {level: 6}).length)), "KB", 350);
}

async function heap(page) {
	const session = await page.context().newCDPSession(page);

	await session.send("HeapProfiler.collectGarbage");
	const {usedSize} = await session.send("Runtime.getHeapUsage");

	await session.detach();
	return usedSize / 1048576;
}

/* From the first row to the last, a third of them drawn. */
async function through(page) {
	for (let at = 0; at < ROWS - 40; at += 300)
		await page.evaluate((row) => jump(row), at);
	return heap(page);
}

async function memory(page) {
	await page.evaluate(() => jump(0));
	tell("memory before", await heap(page), "MB", 60);
	const once = await through(page);

	tell("memory after going through everything", once, "MB", 60);
	tell("memory more after doing it again", Math.max(0,
	    await through(page) - once), "MB", 3);
}

const browser = await openBrowser();
const first = await openPage(browser);

await logIn(first);
await chooseSupplier(first, SUPPLIER);
await rowsDrawn(first);
const page = await logins(first.context());

await first.close();
await page.evaluate(inPage);
const cpu = await cpuClock(page);

bundle();
await jumps(page, cpu);
await scrolling(page, cpu);
await orders(page);
await exports(page);
await memory(page);
await browser.close();
hangUp();
if (process.env.GRID_FIGURES)
	fs.writeFileSync(process.env.GRID_FIGURES, JSON.stringify(figures));
console.log(failed === 0 ? "all within bounds" : `${failed} out of bounds`);
process.exit(failed === 0 ? 0 : 1);
