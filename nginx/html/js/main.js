/* main: who is it? Then the screen. */
import {ask, onSessionEnd, remove} from "./api.js";
import {describeColumns} from "./columns.js";
import {complain} from "./errors.js";
import {placeNotices, tell} from "./notice.js";
import {enterByAccount, logIn, noteSignedOut} from "./login.js";
import {takeRights} from "./rights.js";
import {language, t} from "./text.js";
import {followTheme} from "./theme.js";

const host = document.getElementById("app");

async function sessionNow() {
	try {
		return (await ask("GET", "/app/session", {open: true})).data;
	} catch (error) {
		if (error.status !== 401)
			complain(t("session_failed"), error);
		return null;
	}
}

/* As before: by the account of the organisation, else by the form. */
async function logInAgain({user, outside}) {
	const entered = outside === true ? await enterByAccount() : null;

	return entered ?? logIn(null, {lead: t("login_again"), known: user});
}

let leaving = false; /* the user logs out */

/*
 * One login for all questions that found the session ended. A question that was
 * under way while the password changed had the cookie of before: the session is
 * there, unless the question has failed so already.
 */
function renewer(session) {
	const asks = () => logInAgain(session);
	let renewed = null;

	return (failedAgain) => {
		/* What is asked while the page goes away is asked no more. */
		if (leaving)
			return new Promise(() => {});
		renewed ??= (failedAgain ? asks() : sessionNow().then((now) =>
		    now?.user === session.user ? now : asks())).then((again) => {
			renewed = null;
			if (again.user === session.user) {
				takeRights(again);
				return;
			}
			tell(t("login_other"));
			location.reload();
			/* What the first one asked for is asked no more. */
			return new Promise(() => {});
		});
		return renewed;
	};
}

/* Where the organisation's account is signed out of, too. */
async function logOut({signOut}) {
	leaving = true;
	noteSignedOut();
	try {
		await remove("/app/session");
	} finally {
		if (signOut)
			location.assign(signOut);
		else
			location.reload();
	}
}

async function start() {
	document.documentElement.lang = language;
	placeNotices();
	followTheme();
	/* Loaded while the user types. */
	const screen = import("./screen.js");
	const session = await sessionNow() ??
	    await enterByAccount() ?? await logIn(host);

	takeRights(session);
	onSessionEnd(renewer(session));
	await describeColumns().catch((error) =>
	    complain(t("names_failed"), error));
	(await screen).openScreen(host, session, logOut);
}

start();
