/* A dashboard as TypeScript, so that Grafana's own types are asked about it: the
 * dashboard, and the options and fields of each panel by the panel's kind. A name that
 * Grafana does not know, or a value that a setting cannot have, is an error of tsc.
 *
 *     node types.mjs DASHBOARD.json >dashboard.ts
 */
import { readFileSync } from "node:fs";

const { panels, ...board } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const from = (kind) =>
  `@grafana/schema/dist/esm/raw/composable/${kind.toLowerCase()}/panelcfg/x/` +
  `${kind}PanelCfg_types.gen`;
const kinds = {
  stat: { options: "Stat" },
  timeseries: { options: "Series", fields: "SeriesFields" },
};
const literal = (value) => JSON.stringify(value, null, 1);

/* JSON has the values of an enumeration as text; Grafana fills in what is not said of
 * a panel's options, at any depth. */
console.log(`import type { Dashboard } from "@grafana/schema";
import type { Options as Stat } from "${from("Stat")}";
import type { Options as Series, FieldConfig as SeriesFields }
  from "${from("TimeSeries")}";
type Json<T> = T extends string ? \`\${T}\` :
  T extends (infer U)[] ? Json<U>[] :
  T extends object ? { [K in keyof T]: Json<T[K]> } : T;
type Some<T> = T extends string ? \`\${T}\` :
  T extends (infer U)[] ? Some<U>[] :
  T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
export const board: Json<Dashboard> = ${literal({ ...board, panels })};`);
for (const { id, type, options, fieldConfig } of panels) {
  const kind = kinds[type];
  if (kind === undefined) throw new Error(`panel ${id}: no types for "${type}"`);
  console.log(`export const options${id}: Some<${kind.options}> = ${literal(options)};`);
  const custom = fieldConfig.defaults.custom;
  if (custom !== undefined)
    console.log(`export const fields${id}: Some<${kind.fields}> = ${literal(custom)};`);
}
