/* paper: prints, columns that fit, notices that go when they are void. */
import assert from "node:assert/strict";
import {cell, codeAt, grid, open, ROWS, rowsDrawn, SUPPLIER,
    totalIs} from "./kit.mjs";

/* A browser prints between these two events. */
const stubPrint = (page) => page.evaluate(() => {
	window.print = () => dispatchEvent(new Event("beforeprint"));
});

const printed = (page) => page.locator(".paper tbody tr");

/* Notes at each print what is on the paper. */
const noteRows = (page) => page.evaluate(() => addEventListener("beforeprint",
    () => {
	window.onPaper = [...document.querySelectorAll(".paper tbody tr")]
	    .map(({textContent}) => textContent);
}));

const onPaper = (page) => page.evaluate(() => window.onPaper);

/* A print by the browser itself; answers how many sheets it has. */
async function printByBrowser(page) {
	const pdf = await page.pdf({preferCSSPageSize: true});

	return pdf.toString("latin1").match(/\/Type \/Page\b/g).length;
}

/* The colours of what is printed, as [what, its brightness of 0 to 1]. */
const brightness = (page, selectors) => page.evaluate((list) => {
	const of = (text) => {
		const [red, green, blue] = text.match(/[\d.]+/g).map(Number);

		return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
	};

	return list.map(([selector, property]) => [selector, property,
	    of(getComputedStyle(document.querySelector(selector))[property])]);
}, selectors);

async function byBrowser(day, browser) {
	const page = day.page = await open(browser, {colorScheme: "dark"});
	const {pagination: {total}, data} =
	    await grid("gamme=A&fields=codein,libelle1&limit=2000");

	await noteRows(page);
	await day.check("the browser's own print has all rows of the filters",
	    async () => {
		await page.click(".choice label:has(input[value=A])");
		await totalIs(page, total);
		assert.ok(total > 100 && total < 2000);
		const sheets = await printByBrowser(page);
		const rows = await onPaper(page);

		assert.equal(rows.length, total);
		for (const [i, {codein}] of data.entries())
			assert.ok(rows[i].includes(codein), `${i}: ${rows[i]}`);
		assert.ok(sheets >= total / 60 && sheets <= total / 20,
		    `${total} rows on ${sheets} sheets`);
		assert.equal(await page.locator(".paper").count(), 0);
	});
	await day.check("the buyer's own edits are printed, in their order",
	    async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await page.waitForFunction(() =>
		    document.querySelector(".ag-header .tick").checked);
		await page.keyboard.press("Z");
		await page.click("dialog footer .primary");
		await page.waitForSelector("dialog", {state: "detached"});
		await page.click("fieldset:nth-of-type(2) " +
		    "label:has(input[value=mine])");
		await rowsDrawn(page);
		await printByBrowser(page);
		const rows = await onPaper(page);

		assert.equal(rows.length, total);
		assert.ok(rows.at(-1).includes(data.at(-1).codein));
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+z");
		await page.click("fieldset:nth-of-type(2) " +
		    "label:has(input[value=''])");
		await totalIs(page, total);
	});
	await day.check("paper is light, and its head tells what it is of",
	    async () => {
		await page.evaluate(() =>
		    dispatchEvent(new Event("beforeprint")));
		await page.emulateMedia({media: "print"});
		for (const [selector, property, now] of await brightness(page,
		    [["body", "backgroundColor"], ["body", "color"],
			[".paper td", "color"],
			[".paper .gamme", "backgroundColor"],
			[".paper .gamme", "color"],
			[".paper .kind-label, .paper td:nth-child(2)", "color"]]))
			assert.equal(now > 0.5, property === "backgroundColor",
			    `${selector} ${property} ${now}`);
		await day.shot("paper");
		const head = await page.textContent(".paper h1");
		const line = (await page.textContent(".paper p"))
		    .replace(/(\d)\s(?=\d{3})/g, "$1");

		assert.match(head, new RegExp(` ${SUPPLIER}$`));
		for (const words of ["Gamme A", `${total} lignes sur ${total}`,
			"Données au", new Date().toLocaleDateString("fr-FR",
			    {dateStyle: "medium"})])
			assert.ok(line.includes(words), `${words}: ${line}`);
		await page.evaluate(() =>
		    dispatchEvent(new Event("afterprint")));
		await page.emulateMedia({media: "screen"});
	});
	await day.check("a list that is longer than a print says so", async () => {
		await page.click(".choice label:has(input[name=gamme][value=''])");
		await totalIs(page, ROWS);
		await printByBrowser(page);
		assert.equal((await onPaper(page)).length, 2000);
		await page.locator(".notice").filter({hasText:
		    /2.000 premières lignes sur .*000/}).waitFor();
	});
	await day.check("rows that cannot be had for a print are told",
	    async () => {
		await page.click(".choice label:has(input[value=A])");
		await totalIs(page, total);
		await page.evaluate(() => {
			XMLHttpRequest.prototype.send = () => {
				throw new Error("no connection");
			};
		});
		await printByBrowser(page);
		assert.equal((await onPaper(page)).length, 100);
		await page.locator(".notice.error").filter({hasText:
		    "imprimer"}).waitFor();
		assert.deepEqual(page.problems, []);
	});
	await page.context().close();
}

/* Drawings outside of their places, and signs that have no size. */
const misplaced = (page) => page.evaluate(() => [
	...[...document.querySelectorAll(".panel .plot canvas")]
	    .filter((canvas) => {
		const [inner, outer] = [canvas, canvas.closest(".plot")]
		    .map((node) => node.getBoundingClientRect());

		return inner.top < outer.top - 1 ||
		    inner.bottom > outer.bottom + 1 ||
		    inner.left < outer.left - 1 || inner.right > outer.right + 1;
	    }),
	...[...document.querySelectorAll(".panel .mark, .panel .meter .fill")]
	    .filter(({offsetWidth, offsetHeight}) =>
		offsetWidth === 0 || offsetHeight === 0),
].map(({className}) => className));

async function printing(day, page) {
	await day.check("Ctrl+P prints all rows of the filters", async () => {
		const {pagination: {total}, data} =
		    await grid("gamme=A&fields=libelle1");

		await stubPrint(page);
		await page.click(".choice label:has(input[value=A])");
		await totalIs(page, total);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+p");
		await printed(page).first().waitFor({state: "attached"});
		await page.emulateMedia({media: "print"});
		assert.equal(await printed(page).count(), Math.min(total, 2000));
		assert.equal(await page.locator(".paper thead th").count(),
		    await page.evaluate(() => productGrid.grid
			.getAllDisplayedColumns()
			.filter((one) => !one.getColId().startsWith("ag-"))
			.length));
		const last = Math.min(total, 2000) - 1;

		assert.ok((await printed(page).nth(last).textContent())
		    .includes(data[last].libelle1));
		assert.match(await page.textContent(".paper p"), /Gamme A/);
		assert.ok(await page.locator(".paper").isVisible());
		assert.ok(!await page.locator(".screen").isVisible());
		await page.evaluate(() =>
		    dispatchEvent(new Event("afterprint")));
		await page.emulateMedia({media: "screen"});
		assert.equal(await page.locator(".paper").count(), 0);
		await page.click(".choice label:has(input[value=''])");
		await totalIs(page, ROWS);
	});
	await day.check("an open article is printed by itself", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Enter");
		await page.waitForSelector(".panel .plot canvas");
		await page.keyboard.press("Control+p");
		await page.waitForFunction(() =>
		    document.body.dataset.print === "article");
		await page.emulateMedia({media: "print"});
		assert.ok(await page.locator(".article-head h2").isVisible());
		assert.ok(!await page.locator(".ag-root").isVisible());
		assert.ok(!await page.locator(".foot").isVisible());
		assert.ok(await page.locator(".codes .link").isVisible());
		assert.deepEqual(await misplaced(page), []);
		await day.shot("paper-article");
		await page.emulateMedia({media: "screen"});
		await page.keyboard.press("Escape");
	});
}

export async function paper(day, browser) {
	await byBrowser(day, browser);
	const page = day.page = await open(browser);

	await printing(day, page);
	await day.check("two clicks on a column's edge make it fit", async () => {
		const label = page.locator(
		    ".ag-header-cell[col-id=totalCa]");
		const width = async () => (await label.boundingBox()).width;
		const before = await width();

		await label.locator(".ag-header-cell-resize").dblclick();
		await page.waitForFunction((was) => document.querySelector(
		    ".ag-header-cell[col-id=totalCa]").offsetWidth !== was,
		before);
		const widest = await page.evaluate(() => Math.max(
		    ...[...document.querySelectorAll(
			".ag-cell[col-id=totalCa]")].map((one) =>
			one.scrollWidth - one.clientWidth)));

		assert.ok(widest <= 0);
	});
	await day.check("Undo leaves the notice of what is undone", async () => {
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+a");
		await page.waitForFunction((count) =>
		    productGrid.chosen().length === count, ROWS);
		await page.keyboard.press("Escape");
		await page.keyboard.press("C");
		await page.click("dialog footer .primary");
		await page.waitForSelector(".notice .link");
		await page.keyboard.press("Control+z");
		await page.waitForSelector(".gamme.mine", {state: "detached"});
		assert.equal(await page.locator(".notice .link").count(), 0);
		assert.equal(await page.locator(".notice").count(), 1);
		await page.click(".counts .link");
	});
	assert.deepEqual(page.problems, []);
	await page.context().close();
	await day.check("English numbers in the column of trends", async () => {
		const english = await open(browser, {locale: "en-GB"});

		day.page = english;
		const {data} = await grid("limit=20&fields=trend");

		await english.evaluate(() =>
		    productGrid.grid.ensureColumnVisible("trend"));
		for (const [at, {trend}] of data.entries()) {
			if (trend === null || trend.direction === "flat" ||
			    trend.pct === null || at > 12)
				continue;
			const text = await cell(english, at, "trend")
			    .textContent();

			assert.equal(await codeAt(english, at),
			    data[at].codein);
			assert.match(text, /[+\u2212]\d[\d,]*%/);
		}
		await english.context().close();
	});
}
