/*
 * node read.mjs MODULES: reads Parquet files, whose paths come on standard
 * input, with DuckDB and with hyparquet, and prints a JSON line for each.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/");
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { DuckDBInstance } = await load("@duckdb/node-api");
const { asyncBufferFromFile, parquetReadObjects, parquetMetadataAsync } =
	await load("hyparquet");
const { compressors } = await load("hyparquet-compressors");
const duck = await (await DuckDBInstance.create(":memory:")).connect();

async function byDuck(path) {
	const from = `read_parquet('${path}')`;
	const told = await duck.runAndReadAll(`DESCRIBE SELECT * FROM ${from}`);
	const all = await duck.runAndReadAll(
		`SELECT COLUMNS(*)::VARCHAR FROM ${from}`);
	return { names: told.getRows().map((row) => row[0]),
		types: told.getRows().map((row) => row[1]), rows: all.getRows() };
}

async function byHyparquet(path) {
	const file = await asyncBufferFromFile(path);
	const { row_groups: groups, num_rows: rows } =
		await parquetMetadataAsync(file);
	const objects = await parquetReadObjects({ file, compressors });
	return { rows: objects.map(Object.values), names: Object.keys(objects[0] ?? {}),
		groups: groups.map((group) => Number(group.num_rows)),
		count: Number(rows) };
}

for await (const path of createInterface({ input: process.stdin }))
	console.log(JSON.stringify(
		{ duck: await byDuck(path), hyparquet: await byHyparquet(path) },
		(_, value) => typeof value === "bigint" ? Number(value) : value));
