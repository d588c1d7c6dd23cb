/*
 * columns: what a column is called, how its values look, which are shown.
 *
 * Names come from the API's description; those here stand in until it has
 * come, and where it says nothing.
 */
import {get} from "./api.js";
import {isMonth, isOneMonth, monthColumn, monthNames, seriesOf} from
    "./months.js";
import {recall, remember} from "./store.js";
import {french} from "./text.js";

/* kind (see cells.js), French, English */
const table = {
	codein: ["code", "Code article", "Article code"],
	codeFournisseur: ["text", "Fournisseur", "Supplier"],
	nomFournisseur: ["text", "Nom du fournisseur", "Supplier name"],
	libelle1: ["label", "Libellé", "Label"],
	libelle2: ["text", "Libellé 2", "Label 2"],
	marque: ["text", "Marque", "Brand"],
	gtin: ["code", "GTIN", "GTIN"],
	reference: ["code", "Référence", "Reference"],
	codeCentrale: ["code", "Code centrale", "Central code"],
	code1: ["code", "Univers", "Universe"],
	libelleCode1: ["text", "Libellé univers", "Universe label"],
	code2: ["code", "Famille", "Family"],
	libelleCode2: ["text", "Libellé famille", "Family label"],
	code3: ["code", "Sous-famille", "Sub-family"],
	libelleCode3: ["text", "Libellé sous-famille", "Sub-family label"],
	codeGammeServeur: ["gamme", "Gamme serveur", "Server range"],
	codeGamme: ["range", "Gamme", "Range"],
	totalCa: ["money", "CA", "Turnover"],
	totalQuantite: ["quantity", "Quantité", "Quantity"],
	totalMarge: ["money", "Marge", "Margin"],
	tauxMarge: ["percent", "Taux de marge", "Margin rate"],
	prixMoyenVente: ["price", "Prix moyen", "Mean price"],
	partCa: ["percent", "Part du CA", "Turnover share"],
	rangCa: ["integer", "Rang CA", "Turnover rank"],
	cumulCaPct: ["percent", "CA cumulé", "Cumulated turnover"],
	classeAbc: ["text", "Classe ABC", "ABC class"],
	nbMagasins: ["integer", "Magasins", "Stores"],
	caParMagasin: ["money", "CA par magasin", "Turnover per store"],
	moyenneMensuelle: ["tenths", "Moyenne mensuelle", "Monthly mean"],
	moisVendus: ["integer", "Mois vendus", "Months sold"],
	evolutionQte: ["change", "Évolution", "Change"],
	totalCaN1: ["money", "CA N-1", "Turnover N-1"],
	evolutionCaN1: ["change", "Évolution CA N/N-1", "Turnover change N/N-1"],
	totalQuantiteN1: ["quantity", "Quantité N-1", "Quantity N-1"],
	evolutionQteN1: ["change", "Évolution qté N/N-1", "Quantity change N/N-1"],
	stockActuel: ["quantity", "Stock", "Stock"],
	stockValeur: ["money", "Valeur du stock", "Stock value"],
	couvertureJours: ["tenths", "Couverture (jours)", "Cover (days)"],
	rotation: ["tenths", "Rotation", "Turns"],
	nbMagasinsStock: ["integer", "Magasins en stock", "Stores in stock"],
	nbRuptures: ["integer", "Ruptures", "Out of stock"],
	totalReceptions: ["quantity", "Réceptions", "Receptions"],
	derniereReception: ["day", "Dernière réception", "Last reception"],
	pcb: ["decimal", "PCB", "Case size"],
	prixAchat: ["price", "Prix d'achat", "Purchase price"],
	prixVente: ["price", "Prix de vente", "Selling price"],
	tva: ["tenths", "TVA (%)", "VAT (%)"],
	margeUnitaire: ["price", "Marge unitaire", "Unit margin"],
	premiereVente: ["day", "Première vente", "First sale"],
	derniereVente: ["day", "Dernière vente", "Last sale"],
	nbJoursDerniereVente: ["integer", "Jours sans vente", "Days without sale"],
	caReseau: ["money", "CA réseau", "Network turnover"],
	qteReseau: ["quantity", "Quantité réseau", "Network quantity"],
	nbMagasinsReseau: ["integer", "Magasins réseau", "Network stores"],
	caParMagasinReseau: ["money", "CA/magasin réseau", "Network turnover per store"],
	margePctReseau: ["percent", "Taux de marge réseau", "Network margin rate"],
	presenceReseauPct: ["percent", "Présence réseau", "Network presence"],
	ecartMargeReseau: ["points", "Écart de marge", "Margin gap"],
	trend: ["trend", "Tendance", "Trend"],
	qteReseauByMonth: ["series", "Quantités réseau par mois", "Network quantities by month"],
	sales12m: ["series", "Ventes par mois", "Sales by month"],
	stock12m: ["series", "Stocks par mois", "Stock by month"],
	receptions12m: ["series", "Réceptions par mois", "Receptions by month"],
	/* What waits at a row: not of the API's rows, see ranges.js. */
	proposeePar: ["author", "Proposée par", "Proposed by"],
	proposeeLe: ["proposed", "Proposée le", "Proposed at"],
	motif: ["motif", "Motif", "Reason"],
};

/* Columns that the page fills itself, from what waits. */
const own = new Set(["proposeePar", "proposeeLe", "motif"]);

export const isOwn = (name) => own.has(name);

const widths = {
	code: 104, text: 150, label: 264, range: 126, gamme: 84, money: 100,
	price: 92, percent: 84, change: 106, points: 92, decimal: 84,
	tenths: 118, quantity: 104, integer: 106, day: 104, trend: 92,
	series: 122, author: 130, proposed: 150, motif: 240,
};

/* Three words, in two lines of the head. */
const wider = {evolutionCaN1: 140, evolutionQteN1: 140};

const originally = ["codein", "libelle1", "codeGamme", "totalCa",
    "totalQuantite", "tauxMarge", "sales12m", "evolutionQte", "stockActuel",
    "couvertureJours", "nbMagasinsReseau", "trend"];

/* These stay at the left while one scrolls, unless the buyer says otherwise. */
const pinnedFirst = new Set(["codein", "libelle1"]);

export const isPinned = ({name, pinned = pinnedFirst.has(name)}) => pinned;

/* A column as it is kept: what is as usual is left out. */
export const withPin = ({name, width}, pinned) => ({name, width,
    pinned: pinned === pinnedFirst.has(name) ? undefined : pinned});

/* Maps are shown, but not sorted by. */
const unsortable = new Set(["trend", "series", "author", "proposed", "motif"]);
/* These start on the left; all else is a number. */
const leftwards = new Set(["code", "text", "label", "range", "gamme", "day",
    "trend", "series", "author", "proposed", "motif"]);

let described = {};

/* Whether the API has a column; all, as long as nobody knows. */
let exists = () => true;

/* Takes names from the API's own description, when it has them. */
export async function describeColumns() {
	const label = french ? "x-label-fr" : "x-label-en";
	const spec = await get("/api/v1/openapi.json", {}, {open: true});
	const properties = spec.components?.schemas?.Product?.properties ?? {};

	if (Object.keys(properties).length > 0)
		exists = (name) => isOwn(name) ||
		    Object.hasOwn(properties, name);
	described = Object.fromEntries(Object.entries(properties)
	    .filter(([, of]) => typeof of[label] === "string")
	    .map(([name, of]) => [name, of[label]]));
}

export function columnName(name) {
	return described[name] ?? table[name]?.[french ? 1 : 2] ?? name;
}

export function column(name) {
	const months = isMonth(name);
	const {kind, label, width} = months ? monthColumn(name) :
	    {kind: table[name][0], label: columnName(name)};

	return {name, kind, label,
	    width: width ?? wider[name] ?? widths[kind],
	    sortable: months ? isOneMonth(name) : !unsortable.has(kind), left: leftwards.has(kind)};
}

export const columnNames = () => Object.keys(table).filter(exists);

/* The same, and the columns of months, which the API has as one map. */
export const allColumnNames = () => [...columnNames(),
    ...monthNames().filter((name) => seriesOf(name).every(exists))];

/* What was kept may be another version's. */
const isColumn = (one) => (isMonth(one?.name) ? seriesOf(one.name).every(exists) :
    Object.hasOwn(table, one?.name) && exists(one.name)) && (one.width == null || one.width > 0) &&
    ["undefined", "boolean"].includes(typeof one.pinned);

/* Which are shown, in order: [{name, width}]; kept between visits. */
export function shownColumns() {
	const kept = recall("columns");
	const known = Array.isArray(kept) ? kept.filter(isColumn) : [];

	return known.length > 0 ? known : originalColumns();
}

/* Their names as they stand on screen: those that stay at the left come first. */
export function displayedNames() {
	const shown = shownColumns();

	return [...shown.filter(isPinned),
	    ...shown.filter((one) => !isPinned(one))].map(({name}) => name);
}

/* Those of them that the API is asked for. */
export const askedColumns = () => [...new Set(shownColumns()
    .flatMap(({name}) => isMonth(name) ? seriesOf(name) : [name])
    .filter((name) => !isOwn(name)))];

export function keepColumns(columns) {
	remember("columns", columns);
}

export function originalColumns() {
	return originally.filter(exists).map((name) => ({name}));
}
