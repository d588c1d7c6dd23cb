/* frame: where the views of the screen stand. */
import {el, icon, iconButton} from "./dom.js";
import {openHelp} from "./keyboard.js";
import {openSettings} from "./settings.js";
import {t} from "./text.js";
import {turnTheme} from "./theme.js";

/*
 * Into `host`: `top` has the elements of the line above, `work` what is below
 * it, `foot` the bar; skip() goes to the rows.
 */
export function frame(host, {top, work, foot, skip}, session, logOut) {
	host.append(el("div.screen", {},
	    el("h1.unseen", {}, t("title")),
	    el("a.skip", {href: "#articles", onclick(event) {
		event.preventDefault();
		skip();
	    }}, t("skip")),
	    el("header.top", {},
		el("img.brand-mark", {src: "icon.svg", alt: t("title"),
		    width: 26, height: 26}),
		top,
		el("span.at-desk", {},
		    iconButton("moon", t("theme"), turnTheme),
		    iconButton("help", t("help"), openHelp)),
		el("button.quiet.user", {type: "button", title: t("settings"),
		    onclick: () => openSettings(session, logOut)},
		icon("user"), el("span.user-name", {}, session.user))),
	    work, foot));
}
