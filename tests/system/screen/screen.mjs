/*
 * A buyer's day in headless Chromium. Run by tests/system/screen.sh; each
 * check is told by name, and the last line counts them. Screenshots are
 * written for a person to look at.
 */
import assert from "node:assert/strict";
import {article} from "./article.mjs";
import {back} from "./back.mjs";
import {choosing} from "./choosing.mjs";
import {columns} from "./columns.mjs";
import {faults} from "./faults.mjs";
import {arriving, finding} from "./finding.mjs";
import {Checks, openBrowser, openPage} from "./kit.mjs";
import {looks} from "./looks.mjs";
import {odd} from "./odd.mjs";
import {paper} from "./paper.mjs";
import {places} from "./places.mjs";
import {races} from "./races.mjs";
import {ranges} from "./ranges.mjs";
import {settings} from "./settings.mjs";

const browser = await openBrowser();
const day = new Checks();

day.page = await openPage(browser);
await arriving(day);
await finding(day);
await article(day);
await ranges(day);
await settings(day);
await faults(day);
await day.check("the page complained of nothing", () =>
    assert.deepEqual(day.page.problems, []));
await back(day, browser);
await choosing(day, browser);
await places(day, browser);
await columns(day, browser);
await paper(day, browser);
await odd(day, browser);
await races(day, browser);
await looks(day, browser);
await browser.close();
day.done();
