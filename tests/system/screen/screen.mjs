/*
 * A buyer's day in headless Chromium. Run by tests/system/screen.sh; each
 * check is told by name, and the last line counts them. Screenshots are
 * written for a person to look at.
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

/*
 * GRID_PARTS=columns,paper runs these alone. The buyer's day begins with rows
 * that no other part has worked on: screen_day.sh, screen_firefox.sh.
 */
const {GRID_PARTS} = process.env;
const wanted = (part) => GRID_PARTS ?
    GRID_PARTS.split(",").includes(part.name) : part !== buyersDay;

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
for (const part of [back, choosing, counts, bulk, files, elsewhere, inbox, views, finer,
    places, buyersDay, columns, choices, months, yearOnYear, paper, partly, sheets,
    slicing, summary, tables, failing, ended, shifts, keeping, keyboard, odd, races, signs, together, buyers,
    roles, memory, looks, sizes].filter(wanted))
	await part(day, browser);
await browser.close();
day.done();
