/*
 * The Grid screen in a headless browser. Run by tests/system/screen.sh and the
 * scripts beside it; each check is told by name, and the last line counts them.
 * Screenshots are written for a person to look at.
 */
import assert from "node:assert/strict";
import {article} from "./article.mjs";
import {back} from "./back.mjs";
import {bulk} from "./bulk.mjs";
import {buyers} from "./buyers.mjs";
import {choices} from "./choices.mjs";
import {choosing} from "./choosing.mjs";
import {columns} from "./columns.mjs";
import {counts} from "./counts.mjs";
import {buyersDay} from "./day.mjs";
import {elsewhere} from "./elsewhere.mjs";
import {ended} from "./ended.mjs";
import {failing} from "./failing.mjs";
import {faults} from "./faults.mjs";
import {files} from "./files.mjs";
import {finer} from "./finer.mjs";
import {arriving, finding} from "./finding.mjs";
import {Checks, openBrowser, openPage} from "./kit.mjs";
import {inbox} from "./inbox.mjs";
import {keeping} from "./keeping.mjs";
import {keyboard} from "./keyboard.mjs";
import {looks} from "./looks.mjs";
import {memory} from "./memory.mjs";
import {months, yearOnYear} from "./months.mjs";
import {odd} from "./odd.mjs";
import {paper} from "./paper.mjs";
import {partly} from "./partly.mjs";
import {places} from "./places.mjs";
import {races} from "./races.mjs";
import {ranges} from "./ranges.mjs";
import {roles} from "./roles.mjs";
import {settings} from "./settings.mjs";
import {sheets} from "./sheets.mjs";
import {shifts} from "./shifts.mjs";
import {signs} from "./signs.mjs";
import {sizes} from "./sizes.mjs";
import {slicing} from "./slicing.mjs";
import {summary} from "./summary.mjs";
import {tables} from "./tables.mjs";
import {together} from "./together.mjs";
import {views} from "./views.mjs";

/* A group a script: screen.sh, screen_table.sh, ...; about as long each. */
const groups = {
	page: [back, places, keyboard, odd],
	table: [counts, files, views, finer, columns, choices, months,
	    yearOnYear, paper, partly, sheets, slicing, summary, tables],
	edits: [choosing, bulk, elsewhere, inbox, keeping, races, signs,
	    together, buyers, roles],
	looks: [failing, ended, shifts, memory, looks, sizes],
	/* Begins with rows that no other part has worked on. */
	day: [buyersDay],
};

/* GRID_PARTS=columns,paper runs these parts alone, GRID_PARTS=table a group. */
const {GRID_PARTS} = process.env;
const wanted = (GRID_PARTS || "page").split(",");
const parts = wanted.flatMap((name) => groups[name] ??
    Object.values(groups).flat().filter((part) => part.name === name));

for (const name of wanted)
	assert.ok(groups[name] || parts.some((part) => part.name === name),
	    `GRID_PARTS: there is no ${name}`);

const browser = await openBrowser();
const day = new Checks();

if (!GRID_PARTS) {
	day.page = await openPage(browser);
	for (const part of [arriving, finding, article, ranges, settings,
	    faults])
		await part(day);
	await day.check("the page complained of nothing", () =>
	    assert.deepEqual(day.page.problems, []));
}
for (const part of parts)
	await part(day, browser);
await browser.close();
day.done();
