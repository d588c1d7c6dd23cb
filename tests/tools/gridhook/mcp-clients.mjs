// The official SDK clients against a gridhook, both eras.
//   node mcp-clients.mjs NODE_MODULES URL SECRET PROGRAM CONFIG
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import path from "node:path";

const [modules, url, secret, command, config] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const headers = { "X-Service-Secret": secret };
let passed = 0;
let failed = 0;

async function test(name, run) {
  try {
    await run();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log("not ok: %s: %s", name, error && error.stack);
  }
}

// A quick client meets the limit of 200 calls a second, and waits.
async function patiently(client, name) {
  for (;;) {
    const result = await client.callTool({ name, arguments: {} });
    if (!result.isError || !result.content[0].text.startsWith("Too many calls")) return result;
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function exercise(client) {
  const { tools } = await client.listTools();
  assert.equal(tools.length, 14);
  assert.equal(tools[0].name, "get_app_status");
  const status = await client.callTool({ name: "get_app_status", arguments: {} });
  assert.equal(status.structuredContent.app, "assistant");
  assert.deepEqual(JSON.parse(status.content[0].text), status.structuredContent);
  const history = await client.callTool({ name: "get_conversation_history", arguments: { limit: 5 } });
  assert.ok(Array.isArray(history.structuredContent.messages));
  const bad = await client.callTool({ name: "open_url", arguments: {} });
  assert.equal(bad.isError, true);
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), (error) => error.code === -32602);
  const many = Array.from({ length: 200 }, () => patiently(client, "get_app_status"));
  for (const result of await Promise.all(many))
    assert.ok(!result.isError, JSON.stringify(result.content));
}

await test("SDK v1", async () => {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  assert.equal(client.getServerVersion().name, "gridhook");
  await client.ping();
  await exercise(client);
  await client.close();
});

for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  await test("SDK v2 " + JSON.stringify(mode), async () => {
    const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await exercise(client);
    await client.close();
  });
}

// By standard input and output: the program is started by the client.
const start = { command, args: ["--config", config, "mcp"], env: process.env };

await test("SDK v1, stdio", async () => {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport(start));
  assert.equal(client.getServerVersion().name, "gridhook");
  await client.ping();
  await exercise(client);
  await client.close();
});

for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  await test("SDK v2, stdio " + JSON.stringify(mode), async () => {
    const { Client } = await load("@modelcontextprotocol/client");
    const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(start));
    await exercise(client);
    await client.close();
  });
}

await test("a wrong secret is refused", async () => {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const client = new Client({ name: "test", version: "1" });
  const wrong = { requestInit: { headers: { "X-Service-Secret": "wrong" } } };
  await assert.rejects(client.connect(new StreamableHTTPClientTransport(new URL(url), wrong)));
});

console.log("%d passed, %d failed", passed, failed);
process.exit(failed === 0 ? 0 : 1);
