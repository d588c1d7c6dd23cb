/* What a caller writes with either client, typed to the end. */
import createClient from "openapi-fetch";
import type {paths} from "./schema";
import {getGrid} from "./made";

const openapi = createClient<paths>({baseUrl: "http://127.0.0.1/api/v1"});
const {data, error} = await openapi.GET("/grid", {params: {query: {
	fournisseur: "12345", limit: 5, "stockActuel": ["gt.0"]}}});

if (data && typeof data === "object" && "data" in data) {
	const code: string | undefined = data.data[0]?.codein;
	const turnover: number | undefined = data.data[0]?.totalCa;

	// @ts-expect-error A code is a text.
	const wrong: number = data.data[0]?.codein;

	console.log(code, turnover, wrong, data.pagination.total + 1);
}
console.log(error?.error.code === "not_found");

const made = await getGrid({query: {fournisseur: "12345"}});

if (made.data && typeof made.data === "object" && "data" in made.data) {
	const code: string | undefined = made.data.data[0]?.codein;

	// @ts-expect-error A code is a text.
	const wrong: number = made.data.data[0]?.codein;

	console.log(code, wrong, made.data.pagination.total + 1);
}
// @ts-expect-error There is no such order.
await openapi.GET("/grid", {params: {query: {fournisseur: "1", order: "up"}}});
// @ts-expect-error There is no such order.
await getGrid({query: {fournisseur: "1", order: "up"}});
