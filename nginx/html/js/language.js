/* language: which of the two the page speaks, by the buyer's choice. */
import {el} from "./dom.js";
import {recall, remember} from "./store.js";
import {t} from "./text.js";

/* Each is told in its own language. */
const CHOICES = [["", () => t("language_browser")], ["fr", () => "Français"],
    ["en", () => "English"]];

export function languageChoice() {
	const now = recall("language") ?? "";

	return el("fieldset.choice.language", {},
	    el("legend", {}, t("language")),
	    CHOICES.map(([value, words]) => el("label", {},
		el("input", {type: "radio", name: "language", value,
		    checked: value === now ? true : null,
		    onchange() {
			    remember("language", value || null);
			    location.reload();
		    }}), el("span.face", {lang: value || null}, words()))));
}
