/* labels: an article in a list of codes, its label asked for when not known. */
import {get} from "./api.js";
import {el} from "./dom.js";
import {t} from "./text.js";

async function fill(name, supplier, codein) {
	try {
		const {data} = await get(
		    `/api/v1/products/${encodeURIComponent(codein)}`,
		    {fournisseur: supplier, fields: "libelle1"});

		name.textContent = data.libelle1 ?? "";
	} catch {
		name.textContent = t("label_failed");
	}
}

export function articleName(supplier, {codein, libelle1}) {
	const name = el("span", {}, libelle1 ?? "");

	if (libelle1 === undefined)
		fill(name, supplier, codein);
	return [el("span.code", {}, codein), " ", name];
}
