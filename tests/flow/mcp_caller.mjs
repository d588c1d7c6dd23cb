// A client of the official SDK that calls tools: a call a line on standard input
// as JSON, its result a line on standard output.
//   node mcp_caller.mjs NODE_MODULES URL KEY v1|legacy|auto|REVISION
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [modules, url, key, kind] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const options = { requestInit: { headers: { Authorization: `Bearer ${key}` } } };
const whoami = { name: "questions", version: "1" };

async function connect() {
  if (kind === "v1") {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(whoami);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const mode = ["legacy", "auto"].includes(kind) ? kind : { pin: kind };
  const client = new Client(whoami, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
  return client;
}

const client = await connect();
// The client then holds each result against its tool's output schema.
await client.listTools();
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await client.callTool(JSON.parse(line))));
await client.close();
