/* files: exports hold exactly what is shown, as the API says it. */
import assert from "node:assert/strict";
import fs from "node:fs/promises";
import {another, api, cell, codeAt, grid, open, product, rowsDrawn,
    totalIs} from "./kit.mjs";

async function exported(day, page, format, months = true) {
	await page.click(".filters .export");
	await page.check(`dialog input[value=${format}]`);
	if (!months)
		await page.uncheck("dialog input[type=checkbox]");
	await day.shot(`export-${format}`);
	const [file] = await Promise.all([page.waitForEvent("download"),
	    page.click("dialog footer .primary")]);

	await page.waitForSelector("dialog", {state: "detached"});
	return {name: file.suggestedFilename(),
	    text: await fs.readFile(await file.path(), "utf8")};
}

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
		const at = (column) => heads.indexOf(column);

		assert.match(name, /\.csv$/);
		assert.equal(text[0], "\ufeff");
		assert.ok(at("codein") === 0 && at("libelle1") > 0);
		assert.equal(heads.filter((one) => /^sales12m\.\d{6}$/.test(one))
		    .length, 12, heads.join());
		assert.ok(heads.includes(`sales12m.${
		    meta.donneesAu.slice(0, 7).replace("-", "")}`));
		assert.deepEqual(lines.map((cells) => [cells[0],
		    cells[at("libelle1")], Number(cells[at("totalCa")]
			.replace(",", "."))]),
		data.map((row) => [row.codein, row.libelle1, row.totalCa]));
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
		const {text} = await exported(day, page, "tsv", false);
		const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);

		assert.equal(lines.length, 3);
		assert.deepEqual(lines.slice(1).map((line) =>
		    line.split("\t")[0]), codes);
		await cell(page, 0, "libelle1").click();
		await page.keyboard.press("Control+z");
		await page.keyboard.press("Control+z");
		await page.click(".choice label:has(input[name=show][value=''])");
		await rowsDrawn(page);
	});
	await day.check("an export that fails says so, and can be tried again",
	    async () => {
		await page.route("**/api/v1/grid?*format=csv*", (route) =>
		    route.fulfill({status: 400,
			contentType: "application/json",
			body: JSON.stringify({error: {code: "bad_request",
			    message: "no such day"}})}), {times: 1});
		await page.click(".filters .export");
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
	await day.check("an Excel file holds as many rows, where the API has it",
	    async () => {
		const {json} = await api("GET", "/api/v1/openapi.json");
		const {schema} = json.paths["/grid"].get.parameters
		    .find(({name}) => name === "format");

		await page.click(".filters .export");
		assert.equal(await page.locator("dialog input[value=xlsx]").count(),
		    Number(schema.enum.includes("xlsx")));
		await page.keyboard.press("Escape");
		if (!schema.enum.includes("xlsx"))
			return;
		await page.click(".filters .export");
		const [file] = await Promise.all([page.waitForEvent("download"),
		    page.click("dialog footer .primary")]);

		assert.match(file.suggestedFilename(), /\.xlsx$/);
		assert.equal((await fs.readFile(await file.path()))
		    .subarray(0, 2).toString(), "PK");
	});
	await page.context().close();
}
