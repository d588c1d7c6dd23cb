/* files: exports hold exactly what is shown, and other programs read them. */
import assert from "node:assert/strict";
import fs from "node:fs/promises";
import {another, cell, codeAt, grid, host, open, product, propose, rejectAt,
    rowsDrawn, SUPPLIER, totalIs} from "./kit.mjs";

async function exported(day, page, format) {
	await page.click(".filters .export");
	await page.check(`dialog input[value=${format}]`);
	await day.shot(`export-${format}`);
	const [file] = await Promise.all([page.waitForEvent("download"),
	    page.click("dialog footer .primary")]);

	await page.waitForSelector("dialog", {state: "detached"});
	return {name: file.suggestedFilename(), path: await file.path(),
	    text: await fs.readFile(await file.path(), "utf8")};
}

/* The heads of the page's columns, from the left. */
const headsOf = (page) => page.evaluate(() => productGrid.grid
    .getAllDisplayedColumns().filter((one) =>
	!one.getColId().startsWith("ag-"))
    .map((one) => one.getColDef().headerName));

/* These columns are shown; `name` may have more about it. */
async function showColumns(page, names) {
	await page.evaluate((columns) => {
		localStorage["grid.columns"] = JSON.stringify(columns);
	}, names.map((name) => ({name})));
	await page.reload();
	await rowsDrawn(page);
}

/* Texts of the cells of a row, a column's name to its text. */
const textsAt = (page, row, names) => Promise.all(names.map(async (name) => {
	await page.evaluate((one) =>
	    productGrid.grid.ensureColumnVisible(one), name);
	return (await cell(page, row, name).textContent()).trim();
}));

/* The lines of a CSV; a text may have line ends in its quotes. */
const linesOf = (text, comma) => {
	const lines = [];
	let cells = [], cell = "", quoted = false;

	for (let i = 0; i < text.length; i++) {
		const one = text[i];

		if (quoted && one === '"' && text[i + 1] === '"')
			cell += text[i++];
		else if (one === '"')
			quoted = !quoted;
		else if (!quoted && (one === comma || one === "\n")) {
			cells.push(cell.replace(/\r$/, ""));
			cell = "";
			if (one === "\n")
				lines.push(cells.splice(0));
		} else
			cell += one;
	}
	return lines;
};

/* Of all kinds; the one that stays at the left is shown first. */
const KINDS = ["totalCa", "codein", "libelle1", "gtin", "codeGamme",
    "totalQuantite", "tauxMarge", "evolutionQte", "derniereVente", "prixVente",
    "trend", "sales12m-change3", "evolutionCaN1", "sales12m-onyear3",
    "sales12mN1-0", "proposeePar", "motif"];
const ORDER = ["codein", "libelle1", "totalCa", ...KINDS.slice(3)];
/* The API has them, and the maps that months are made of. */
const ASKED = [...ORDER.slice(0, -2).filter((name) => !name.includes("-")),
    "sales12m", "sales12mN1"];

async function workbooks(day, page, said) {
	let made, rows, heads, yearAgo;

	await day.check(`a workbook has the page's heads: ${said.trend}`,
	    async () => {
		await showColumns(page, KINDS);
		const [first] = (await grid("sort=totalCa&limit=1")).data;

		await propose(first.codein, another(first.codeGamme));
		await page.reload();
		await rowsDrawn(page);
		await cell(page, 0, "codeGamme").locator(".proposal").waitFor();
		heads = await headsOf(page);
		made = await exported(day, page, "xlsx");
		await rejectAt(page, first.codein);
		const {data, meta} = await grid(
		    `sort=totalCa&limit=100000&fields=${ASKED}`);

		rows = data;
		yearAgo = String(Number(meta.donneesAu.slice(0, 7)
		    .replace("-", "")) - 100);
		assert.equal(made.name, `grid-${SUPPLIER}.xlsx`);
		assert.ok(heads.includes(said.trend), heads.join());
	});
	await day.check(`openpyxl reads what is shown: ${said.trend}`, async () => {
		const book = await host("workbook", made.path);

		if (book === null) {
			console.log("    skipped: no Python has openpyxl");
			return;
		}
		const [told, ...lines] = book.lines;
		const at = (name) => told.findIndex(([head]) =>
		    head === heads[ORDER.indexOf(name)]);

		assert.equal(book.frozen, "A2");
		assert.deepEqual(told.map(([head]) => head).filter((head) =>
		    heads.includes(head)), heads);
		assert.equal(lines.length, rows.length);
		for (const [i, row] of rows.entries()) {
			for (const name of ["codein", "libelle1", "gtin",
			    "codeGamme", "totalCa", "totalQuantite", "tauxMarge",
			    "evolutionQte", "prixVente", "evolutionCaN1"])
				assert.equal(lines[i][at(name)][0], row[name],
				    `${row.codein} ${name}`);
			assert.equal(lines[i][at("sales12mN1-0")][0] ?? null,
			    row.sales12mN1[yearAgo] ?? null);
			assert.equal(lines[i][at("derniereVente")][0]?.day ??
			    null, row.derniereVente);
		}
		assert.equal(lines[0][at("codein")][1], "@");
		assert.equal(lines[0][at("tauxMarge")][1], "0.0%");
		assert.match(lines[0][at("proposeePar")][0], /agent-gammes/);
		for (let i = 0; i < 8; i++) {
			const [trend] = await textsAt(page, i, ["trend"]);

			assert.equal(lines[i][at("trend")][0] ?? said.none,
			    trend.replace(/^[↗↘→]\s*/, ""));
		}
	});
	await day.check(`LibreOffice reads the same: ${said.trend}`, async () => {
		const lines = await host("workbook", "--office", made.path);

		if (lines === null) {
			console.log("    skipped: LibreOffice is not there");
			return;
		}
		assert.deepEqual(lines[0].filter((head) => heads.includes(head)),
		    heads);
		const at = (name) => lines[0].indexOf(heads[ORDER.indexOf(name)]);

		/* It writes what its cells show: prices have two decimals. */
		assert.deepEqual(lines.slice(1).map((cells) => [cells[0],
		    cells[1], cells[at("prixVente")].replaceAll(",", ""),
		    cells[at("derniereVente")]]),
		rows.map((row) => [row.codein, row.libelle1,
		    row.prixVente?.toFixed(2) ?? "", row.derniereVente?.replace(
			/^(....)-0?(.+)-0?(.+)$/, "$2/$3/$1") ?? ""]));
	});
}

export async function files(day, browser) {
	const page = day.page = await open(browser);
	const query = "gamme=B&sort=totalCa&order=desc";

	await day.check("a CSV for French Excel: filters, columns, order",
	    async () => {
		await page.click(".choice label:has(input[value=B])");
		await page.click(".ag-header-cell[col-id=totalCa] " +
		    ".ag-header-cell-label");
		const {data, meta} = await grid(
		    `${query}&fields=libelle1,totalCa`);

		await totalIs(page, data.length);
		await page.click(".filters .export");
		await day.axe("export");
		await page.keyboard.press("Escape");
		const {name, text} = await exported(day, page, "csv-fr");
		const [heads, ...lines] = linesOf(text.replace(/^\ufeff/, ""), ";");
		const shown = await headsOf(page);
		const at = (head) => heads.indexOf(head);
		const until = meta.donneesAu.slice(2, 4);

		assert.equal(name, `grid-${SUPPLIER}.csv`);
		assert.equal(text[0], "\ufeff");
		assert.deepEqual(heads.filter((head) => shown.includes(head)),
		    shown.filter((head) => head !== "Ventes par mois"));
		assert.equal(heads.filter((head) => /^Ventes par mois \S+\s\d\d$/
		    .test(head)).length, 12, heads.join());
		assert.ok(heads.findLast((head) => /^Ventes/.test(head))
		    .endsWith(until));
		assert.deepEqual(lines.map((cells) => [cells[0],
		    cells[at("Libellé")], Number(cells[at("CA")]
			.replace(",", "."))]),
		data.map((row) => [row.codein, row.libelle1, row.totalCa]));
		assert.match(text, new RegExp(`^"${data[0].codein}";`, "m"));
	});
	await day.check("own edits alone, as shown", async () => {
		const codes = [await codeAt(page, 0), await codeAt(page, 3)];

		for (const row of [0, 3]) {
			const {codeGamme} = await product(await codeAt(page, row));

			await cell(page, row, "libelle1").click();
			await page.keyboard.press(another(codeGamme));
		}
		await page.click(".choice label:has(input[value=mine])");
		await totalIs(page, 2);
		const {text} = await exported(day, page, "tsv");
		const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);

		assert.equal(lines.length, 3);
		assert.deepEqual(lines.slice(1).map((line) =>
		    line.split("\t")[0]), codes);
		const mine = lines[0].split("\t")
		    .indexOf("Votre modification, non enregistrée");

		assert.match(lines[1].split("\t")[mine], /^[ABCYZ]$/);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+z");
		await page.keyboard.press("Control+z");
		await page.click(".choice label:has(input[name=show][value=''])");
		await rowsDrawn(page);
	});
	await day.check("an export that fails says so, and can be tried again",
	    async () => {
		await page.click(".filters .export");
		await page.route("**/api/v1/grid?*limit=5000*", (route) =>
		    route.fulfill({status: 400,
			contentType: "application/json",
			body: JSON.stringify({error: {code: "bad_request",
			    message: "no such day"}})}), {times: 1});
		await page.check("dialog input[value=csv]");
		await page.click("dialog footer .primary");
		await page.waitForFunction(() => /n'a pas été fait.*no such day/
		    .test(document.querySelector("dialog .problem")
			.textContent));
		const [file] = await Promise.all([page.waitForEvent("download"),
		    page.click("dialog footer .primary")]);
		const {pagination: {total}} = await grid("gamme=B&limit=1");
		const lines = linesOf(await fs.readFile(await file.path(),
		    "utf8"), ",");

		assert.equal(lines.length, total + 1);
		assert.deepEqual(page.problems, []);
	});
	assert.deepEqual(page.problems, []);
	await page.context().close();
	for (const [locale, trend] of [["fr-FR", "Tendance"],
	    ["en-GB", "Trend"]]) {
		const other = day.page = await open(browser, {locale});

		await workbooks(day, other, {trend, none: "–"});
		assert.deepEqual(other.problems, []);
		await other.context().close();
	}
}
