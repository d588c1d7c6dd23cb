/*
 * rights: what the user may do here, as the server told at the login; the server
 * itself checks each request.
 */
import {emit} from "./bus.js";
import {tell} from "./notice.js";
import {t} from "./text.js";

let role = "buyer", suppliers = null;

/* `session` is an answer of /app/session. */
export function takeRights(session) {
	role = session.role;
	suppliers = session.suppliers === null ? null :
	    new Set(session.suppliers);
	emit("rights");
}

/* Whether the user may save and reject ranges of the supplier. */
export const mayDecide = (code) => role !== "buyer" || suppliers === null ||
    suppliers.has(code);

/* Views that all share. */
export const mayShare = () => role !== "buyer";

/* API keys and users. */
export const mayManage = () => role === "administrator";

export const ROLES = ["buyer", "manager", "administrator"];

/* Why a key or a paste does nothing. */
export const tellReadOnly = () => tell(t("read_only_why"), {about: "ranges"});

/* A role in words, with the suppliers that it is for; the user's, for none. */
export const rightsInWords = (whose = {role, suppliers}) =>
    whose.suppliers === null ? t(`role_${whose.role}`) :
    t("role_buyer_of", {codes: [...whose.suppliers].join(", ")});
