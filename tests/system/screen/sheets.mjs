/* sheets: what a buyer brings out of a spreadsheet, as the page's filters. */
import assert from "node:assert/strict";
import {another, cell, grid, open, product, ROWS, SUPPLIER, totalIs}
    from "./kit.mjs";

const WRITTEN = new URL("../../../nginx/html/js/written.js", import.meta.url);

/* What a sheet has, the lines that are read, and what the first one means. */
const READ = [
	["2.40045E+12", [["2.40045E+12"]]],
	["3,76433E+12", [["3,76433E+12"]]],
	["3.760123456789E+12", [["3.760123456789E+12"]], "3760123456789"],
	["'3760123456789", [["'3760123456789"]], "3760123456789"],
	["3760123456789.0", [["3760123456789.0"]], "3760123456789"],
	["3760123456789,00", [["3760123456789,00"]], "3760123456789"],
	["3 760 123 456 789", [["3 760 123 456 789"]], "3760123456789"],
	["3\u00a0760\u202f123 456\u00a0789", [["3 760 123 456 789"]],
	    "3760123456789"],
	["3-760123\u2013456789", [["3-760123\u2013456789"]], "3760123456789"],
	["3,760,123,456,789", [["3,760,123,456,789"]], "3760123456789"],
	["3.760.123.456.789", [["3.760.123.456.789"]], "3760123456789"],
	['="01701930"', [["01701930"]], "01701930"],
	['"01701930"', [["01701930"]], "01701930"],
	["\ufeff01701930\u200b", [["01701930"]], "01701930"],
	["12;13,14\t15", [["12"], ["13"], ["14"], ["15"]], "12"],
	["12\r\n\r\n13\r14\n", [["12"], ["13"], ["14"]], "12"],
	["12\tPain, 500 g; x\n13\t\n", [["12", "Pain, 500 g; x"], ["13"]], "12"],
	["3760123456789 3760123456796", [["3760123456789"],
	    ["3760123456796"]], "3760123456789"],
	["12.5", [["12.5"]], "12.5"],
	["AB-12", [["AB-12"]], "AB-12"],
	["  \n\t", []],
];

async function reading(day) {
	const {formsOf, hasHead, isRounded, readCells, readLines, zerosOf} =
	    await import(WRITTEN);

	await day.check("codes are read as sheets write them", () => {
		for (const [text, lines, meant] of READ) {
			assert.deepEqual(readLines(text, true), lines, text);
			if (meant !== undefined)
				assert.equal(formsOf(lines[0][0]).at(-1), meant);
			assert.equal(lines.length > 0 &&
			    isRounded(lines[0][0]), meant === undefined &&
			    lines.length > 0, text);
		}
		assert.deepEqual(readLines("Pain, 500 g\n\"x\"\"y; z\"", false),
		    [["Pain, 500 g"], ['x"y; z']]);
		assert.deepEqual(readCells("A\r\n\"B\"\n\n"), [["A"], ["B"]]);
		assert.deepEqual(readCells("12;Pain;B\n"), [["12", "Pain", "B"]]);
	});
	await day.check("the zeros before a code are found again", () => {
		assert.ok(zerosOf("1701930", "codein").includes("01701930"));
		assert.deepEqual(zerosOf("03760123456789", "gtin"),
		    ["3760123456789"]);
		assert.ok(zerosOf("036000291452", "gtin")
		    .includes("0036000291452"));
		assert.ok(zerosOf("0036000291452", "gtin")
		    .includes("036000291452"));
		assert.deepEqual(zerosOf("2.40045E+12", "gtin"), []);
		assert.deepEqual(zerosOf("AB", "codein"), []);
		assert.ok(hasHead([["EAN13"], ["12"]]));
		assert.ok(hasHead([["Code article", "Libellé"], ["12", "x"]]));
		assert.ok(!hasHead([["11"], ["12"]]));
		assert.ok(!hasHead([["AB"], ["CD"]]));
	});
}

async function pasteList(page, column, text) {
	await page.click(".filters button.quiet");
	await page.selectOption("#filter-column", column);
	await page.selectOption("#filter-operator", "list");
	await page.fill("#filter-value", text);
	await page.click(".filter-form .primary");
}

const reportIs = (page, words) => page.waitForFunction((form) =>
    new RegExp(form).test(document.querySelector("dialog")?.textContent
	.replace(/\s+/g, " ")), words.source);

const gone = (page) => page.waitForSelector("dialog", {state: "detached"});

async function unfilter(page) {
	await page.click(".chips button");
	await totalIs(page, ROWS);
}

const countOf = async (query) =>
    (await grid(`${query}&limit=1`)).pagination.total;

async function pasting(day, page, said) {
	const {data} = await grid("limit=60&fields=gtin&gtin=is.not_null");
	const gtins = data.map(({gtin}) => gtin)
	    .filter((gtin) => /^[1-9]\d{12}$/.test(gtin));
	const zeroed = data.map(({codein}) => codein)
	    .filter((codein) => /^0[1-9]\d+$/.test(codein));
	const spaced = (gtin) => gtin.replace(
	    /^(.)(...)(...)(...)(...)$/, "$1\u00a0$2 $3-$4\u202f$5");

	await day.check(`${said.language}: GTINs as sheets write them are found`,
	    async () => {
		await pasteList(page, "gtin", ["GTIN", `'${gtins[0]}`,
		    `${gtins[1]}.0`, `${gtins[2]},0`, spaced(gtins[3]),
		    `"${gtins[4]}"`, `${gtins[5]};${gtins[6]}`, gtins[0]]
		    .join("\r\n"));
		await gone(page);
		await totalIs(page, await countOf(
		    `gtin=in.(${gtins.slice(0, 7)})`));
		assert.match(await page.textContent(".chips .words"),
		    /…\D\(7\)$/);
		await unfilter(page);
	});
	await day.check(`${said.language}: what is not found is told, to be copied`,
	    async () => {
		await pasteList(page, "gtin", ["EAN", gtins[0], `0${gtins[1]}`,
		    "2.40045E+12", "3,76433E+12", "9999999999999",
		    "9 999 999 999 998"].join("\n"));
		await reportIs(page, said.some);
		await reportIs(page, said.rounded);
		await reportIs(page, new RegExp(`0${gtins[1]} → ${gtins[1]}`));
		assert.equal(await page.inputValue("#list-missing"),
		    "2.40045E+12\n3,76433E+12\n9999999999999\n9 999 999 999 998");
		await day.axe(`pasted-${said.language}`);
		await page.context().grantPermissions(["clipboard-read",
		    "clipboard-write"]).catch(() => {});
		await page.click(".list-report button");
		await page.getByText(said.copied, {exact: true}).waitFor();
		await page.keyboard.press("Escape");
		await gone(page);
		await totalIs(page, await countOf(
		    `gtin=in.(${gtins.slice(0, 2)})`));
		await unfilter(page);
	});
	await day.check(`${said.language}: other filters that stay are told`,
	    async () => {
		await page.evaluate((supplier) => {
			location.hash = `#${supplier}?where=stockActuel%3Dlt.0`;
		}, SUPPLIER);
		await page.waitForSelector(".chips li");
		await pasteList(page, "gtin", `EAN\n${gtins[0]}\n9999999999999`);
		await reportIs(page, said.narrowed);
		await page.keyboard.press("Escape");
		await gone(page);
		await page.click(".chips button");
		await unfilter(page);
	});
	await day.check(`${said.language}: a zero that a sheet dropped is found`,
	    async () => {
		const short = zeroed.slice(0, 2).map((one) => one.slice(1));

		await pasteList(page, "codein", `Code article\n${
		    short.join("\n")}\n${zeroed[2]}`);
		await reportIs(page, new RegExp(`${short[0]} → ${zeroed[0]}, ${
		    short[1]} → ${zeroed[1]}`));
		await page.keyboard.press("Escape");
		await totalIs(page, 3);
		await unfilter(page);
	});
	await day.check(`${said.language}: where nothing is found, no filter is made`,
	    async () => {
		await pasteList(page, "gtin", "2.40045E+12\n3,76433E+12");
		await reportIs(page, said.none);
		assert.ok(await page.isVisible(".filter-form"));
		await page.keyboard.press("Escape");
		await gone(page);
		assert.equal(await page.locator(".chips li").count(), 0);
		await totalIs(page, ROWS);
	});
	await day.check(`${said.language}: lines of a table are one article each`,
	    async () => {
		await pasteList(page, "codein", ["Code\tLibellé\tStock",
		    ...data.slice(0, 4).map(({codein}) =>
			`${codein}\tPain, 500 g; x\t12`)].join("\r\n"));
		await gone(page);
		await totalIs(page, 4);
		await unfilter(page);
	});
}

async function texts(day, page) {
	await day.check("a label with a comma in it is one value", async () => {
		const {data} = await grid("limit=500&fields=libelle1");
		const {libelle1} = data.find((row) =>
		    /[,;]/.test(row.libelle1)) ?? data[0];

		await pasteList(page, "libelle1", `${libelle1}\nPain, 1;5 kg`);
		await reportIs(page, /1 sur 2/);
		assert.equal(await page.inputValue("#list-missing"),
		    "Pain, 1;5 kg");
		await page.keyboard.press("Escape");
		await totalIs(page, await countOf(`libelle1=eq.${
		    encodeURIComponent(libelle1)}`));
		await unfilter(page);
	});
	await day.check("ranges are pasted by codes as sheets write them",
	    async () => {
		const {data} = await grid("limit=60&fields=gtin,codeGamme" +
		    "&gtin=is.not_null");
		const rows = data.filter(({codein, gtin}) =>
		    /^0/.test(codein) && /^[1-9]\d{12}$/.test(gtin)).slice(0, 2);
		const wanted = rows.map(({codeGamme}) => another(codeGamme));

		await cell(page, 0, "libelle1").click();
		await paste(page, `"${rows[0].codein.replace(/^0+/, "")}";Pain;${wanted[0]}\r\n` +
		    `${rows[1].gtin},0;Pain;${wanted[1]}\r\n` +
		    "3,76433E+12;Pain;A");
		await page.waitForSelector("dialog .parts");
		const told = await page.textContent("dialog .parts");

		assert.match(told, new RegExp(`→ ${rows[0].codein}`));
		assert.match(told, /arrondi.*3,76433E\+12/);
		await page.click("dialog footer .primary");
		await gone(page);
		await page.keyboard.press("Control+s");
		await page.click("dialog footer .primary");
		await gone(page);
		for (const [i, {codein}] of rows.entries())
			assert.equal((await product(codein)).codeGamme, wanted[i]);
	});
}

/* As Ctrl+V does where the focus is; Chromium puts in what is not taken. */
const paste = (page, text) => page.evaluate((words) => {
	const clipboardData = new DataTransfer();

	clipboardData.setData("text/plain", words);
	document.activeElement.dispatchEvent(new ClipboardEvent("paste",
	    {clipboardData, bubbles: true, cancelable: true}));
}, text);

async function elsewhere(day, page) {
	const {data} = await grid("limit=40&fields=gtin,codeGamme" +
	    "&gtin=is.not_null&sort=totalCa");
	const [{gtin}] = data;

	await day.check("a code pasted into the search is found as it is meant",
	    async () => {
		await page.focus(".search-box input");
		await paste(page, `'${gtin}.0\r\n`);
		await page.waitForFunction((text) => document.querySelector(
		    ".search-box input").value === text, gtin);
		await totalIs(page, await countOf(`search=${gtin}`));
		await page.fill(".search-box input", "");
		await totalIs(page, ROWS);
	});
	await day.check("a list pasted into the search becomes a filter", async () => {
		await page.focus(".search-box input");
		await paste(page, `EAN\r\n${gtin}\r\n${data[1].gtin},0\r\n`);
		await page.waitForSelector(".filter-form");
		assert.equal(await page.inputValue("#filter-column"), "gtin");
		await page.click(".filter-form .primary");
		await gone(page);
		await totalIs(page, await countOf(
		    `gtin=in.(${gtin},${data[1].gtin})`));
		await unfilter(page);
	});
	await day.check("text with a tab in it is a filter, too", async () => {
		await page.click(".filters button.quiet");
		await page.selectOption("#filter-column", "libelle1");
		await page.fill("#filter-value", "pain\td");
		await page.click(".filter-form .primary");
		await gone(page);
		assert.match(await page.textContent(".chips .words"), /pain d/);
		await page.click(".chips button");
		await totalIs(page, ROWS);
	});
	await day.check("pasted ranges keep their rows where a cell is empty",
	    async () => {
		await page.click(".ag-header-cell[col-id=totalCa] " +
		    ".ag-header-cell-label");
		await page.waitForFunction((codein) => document.querySelector(
		    '.ag-row[row-index="0"] [col-id=codein]')?.textContent ===
		    codein, (await grid("sort=totalCa&limit=1")).data[0].codein);
		const {data: rows} = await grid(
		    "sort=totalCa&limit=4&fields=codeGamme");
		const wanted = rows.map(({codeGamme}) => another(codeGamme));

		await cell(page, 0, "codeGamme").click();
		await paste(page, `Gamme\r\n${wanted[0]}\r\n\r\n?\r\n${
		    wanted[3]}\r\n`);
		await page.waitForSelector("dialog .parts");
		assert.match(await page.textContent("dialog .parts"),
		    /1 ligne sans gamme.*: 4/);
		await page.click("dialog footer .primary");
		await gone(page);
		const mine = (row) => page.evaluate((n) => document.querySelector(
		    `.ag-row[row-index="${n}"] .gamme.mine`)?.textContent ?? "",
		row);

		assert.deepEqual([await mine(0), await mine(1), await mine(2),
		    await mine(3)], [wanted[0], "", "", wanted[3]]);
		await page.keyboard.press("Control+z");
	});
}

export async function sheets(day, browser) {
	await reading(day);
	const page = day.page = await open(browser);

	await pasting(day, page, {language: "fr", some: /: 2 sur 6/,
	    none: /: 0 sur 2/, rounded: /arrondies.*Nombre sans décimale/,
	    copied: "Copiées", narrowed: /autres filtres restent/});
	await texts(day, page);
	await elsewhere(day, page);
	assert.deepEqual(page.problems, []);
	await page.context().close();
	const english = day.page = await open(browser, {locale: "en-GB"});

	await pasting(day, english, {language: "en", some: /: 2 of 6/,
	    none: /: 0 of 2/, rounded: /rounded.*Number without decimals/,
	    copied: "Copied", narrowed: /other filters stay/});
	assert.deepEqual(english.problems, []);
	await english.context().close();
}
