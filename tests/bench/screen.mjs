/*
 * How fast the Grid screen is on the supplier of 130,000, in the browser:
 * `make bench-screen`, or
 *
 *	GRID_LONG=1 tests/system/screen.sh tests/bench/screen.mjs
 *
 * prints each figure beside what it must stay below. What the page's own
 * thread computes is told as well: that does not depend on what else runs on
 * the machine.
 */
import {chooseSupplier, hangUp, logIn, openBrowser, openPage, ROWS, rowsDrawn,
    SUPPLIER} from "../system/screen/kit.mjs";

const JUMPS = 60, LOGINS = 5;
let failed = 0;

function tell(name, value, unit, most) {
	const fine = value <= most;

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

	window.longTasks = [];
	new PerformanceObserver((list) => window.longTasks.push(
	    ...list.getEntries().map(({duration}) => duration)))
	    .observe({type: "longtask"});
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

const longest = (page) => page.evaluate(() => {
	const most = Math.max(0, ...window.longTasks);

	window.longTasks.length = 0;
	return most;
});

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
	await longest(page);
	for (let i = 0; i < 200; i++)
		await page.mouse.wheel(0, 400);
	await page.waitForTimeout(500);
	tell("longest task while scrolling by the wheel", await longest(page),
	    "ms", 100);
	await page.evaluate(async (rows) => {
		const view = document.querySelector(
		    ".ag-body-vertical-scroll-viewport");
		const height = document.querySelector(".ag-row").offsetHeight;

		for (let i = 0; i < 300; i++) {
			view.scrollTop = i / 300 * rows * height;
			await new Promise(requestAnimationFrame);
		}
	}, ROWS);
	await page.waitForTimeout(1000);
	tell("longest task while dragging through everything",
	    await longest(page), "ms", 100);
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

await jumps(page, cpu);
await scrolling(page, cpu);
await memory(page);
await browser.close();
hangUp();
console.log(failed === 0 ? "all within bounds" : `${failed} out of bounds`);
process.exit(failed === 0 ? 0 : 1);
