/*
 * How fast the Grid screen is on the supplier of 130,000, in the browser:
 *
 *	tests/system/screen.sh tests/bench/screen.mjs
 *
 * prints each figure beside what it must stay below.
 */
import {chooseSupplier, done, logIn, openBrowser, openPage,
    rowsDrawn} from "../system/screen/kit.mjs";

const ROWS = 130000, JUMPS = 60, ROW_PX = 34;
let failed = 0;

function tell(name, value, unit, most) {
	const fine = value <= most;

	failed += !fine;
	console.log(`${fine ? "ok" : "NOT"}  ${name.padEnd(44)} ${
	    value.toFixed(1).padStart(8)} ${unit}  (at most ${most})`);
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const browser = await openBrowser();
let page = await openPage(browser);

/* The second visit: the supplier is remembered, as on every working day. */
await logIn(page);
await chooseSupplier(page, "12345");
const context = page.context();
await context.clearCookies();
page = await context.newPage();
await page.goto(process.env.GRID_URL);
await page.waitForSelector(".login-card");
await page.fill("#user", process.env.GRID_USER);
await page.fill("#password", process.env.GRID_PASSWORD);
const login = Date.now();
await page.keyboard.press("Enter");
await rowsDrawn(page);
tell("login to first rows, password check included", Date.now() - login,
    "ms", 1000);

/* Jumps to places never seen; drawn when the top row has its label. */
async function jump(to) {
	return page.evaluate(([top, index]) => new Promise((resolve) => {
		const view = document.querySelector(
		    ".ag-body-vertical-scroll-viewport, .ag-body-viewport");
		const body = document.querySelector(".ag-body-viewport") ?? view;
		const start = performance.now();
		const look = () => {
			const label = document.querySelector(
			    `.ag-row[row-index="${index}"]:not(.row-waits) ` +
			    ".kind-label");

			if (label?.textContent)
				requestAnimationFrame(() =>
				    resolve(performance.now() - start));
			else
				requestAnimationFrame(look);
		};

		body.scrollTop = top;
		if (body.scrollTop === 0 && top > 0)
			view.scrollTop = top;
		look();
	}), [to * ROW_PX, to + 2]);
}

await page.evaluate(() => {
	window.longTasks = [];
	new PerformanceObserver((list) => window.longTasks.push(
	    ...list.getEntries().map(({duration}) => duration)))
	    .observe({type: "longtask"});
});
const times = [];
for (let i = 0; i < JUMPS; i++)
	times.push(await jump((i * 48271 + 7919) % (ROWS - 40)));
tell("jump to rows drawn, median", median(times), "ms", 150);
tell("jump to rows drawn, slowest", Math.max(...times), "ms", 1000);

/* Scrolling by the wheel, then through all of it. */
await jump(0);
await page.evaluate(() => {
	window.longTasks.length = 0;
});
await page.mouse.move(700, 400);
for (let i = 0; i < 150; i++)
	await page.mouse.wheel(0, 400);
await page.waitForTimeout(500);
const wheeled = await page.evaluate(() => Math.max(0, ...window.longTasks));
tell("longest task while scrolling", wheeled, "ms", 100);

const heap = async () => {
	const session = await page.context().newCDPSession(page);

	await session.send("HeapProfiler.collectGarbage");
	const {usedSize} = await session.send("Runtime.getHeapUsage");

	await session.detach();
	return usedSize / 1048576;
};
for (let at = 0; at < ROWS - 40; at += 997)
	await jump(at);
const once = await heap();
for (let at = 0; at < ROWS - 40; at += 613)
	await jump(at);
const twice = await heap();
tell("memory after scrolling through everything", once, "MB", 150);
tell("memory more after doing it again", Math.max(0, twice - once), "MB", 8);

await browser.close();
done();
console.log(`${failed === 0 ? "all" : "not all"} within bounds`);
process.exit(failed === 0 ? 0 : 1);
