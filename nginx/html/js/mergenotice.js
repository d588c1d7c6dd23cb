/*
 * mergenotice: which edits have come from another window or computer, and where
 * both changed the same article. The latter stays until it is closed.
 */
import {tell} from "./notice.js";
import {plural, t} from "./text.js";

const LISTED = 4;

/* The first of `list`, each in the words of `say`: the end of a sentence. */
export const listed = (list, say) => list.slice(0, LISTED).map(say).join(", ") +
    (list.length > LISTED ? "…" : ".");

const letter = (one) => one?.gamme ?? "∅";
const inWords = (one) => one === null ? t("merged_no_edit") : letter(one);

const takenInWords = ({codein, was, now}) =>
    now === null ? t("merged_dropped", {codein}) :
	was === null ? `${codein} → ${letter(now)}` :
	    `${codein} ${letter(was)} → ${letter(now)}`;

const metInWords = ({codein, mine, theirs, now}) => t("merged_both",
    {codein, mine: inWords(mine), theirs: inWords(theirs), now: inWords(now)});

const part = (name, list, say) => list.length === 0 ? [] :
    [plural(name, list.length, {list: listed(list, say)})];

export function tellMerged({taken, again, met, canTurn, turnOver}) {
	tell([...part("merged_met", met, metInWords),
	    ...part(again ? "merged_again" : "merged_taken", taken,
		takenInWords)].join(" "),
	met.length === 0 ? {about: "merged"} : {error: true,
	    action: {label: t("merged_turn"), run: turnOver,
		isVoid: () => !canTurn()}});
}
