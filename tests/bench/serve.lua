-- wrk's script: asks for the paths of a file in turn, and prints what it saw as
-- one line of JSON. SERVE_PATHS names the file, SERVE_KEY is the API key,
-- SERVE_ACCEPT what Accept-Encoding says.
local requests, at = {}, 0

function init(args)
   wrk.headers["X-API-Key"] = os.getenv("SERVE_KEY")
   wrk.headers["Accept-Encoding"] = os.getenv("SERVE_ACCEPT")
   for path in io.lines(os.getenv("SERVE_PATHS")) do
      requests[#requests + 1] = wrk.format("GET", path)
   end
end

function request()
   at = at % #requests + 1
   return requests[at]
end

function done(summary, latency)
   local errors = summary.errors
   print(string.format(
      '{"seconds": %.6f, "answers": %d, "bytes": %d, "errors": %d, ' ..
      '"median_ms": %.4f, "p99_ms": %.4f}',
      summary.duration / 1e6, summary.requests, summary.bytes,
      errors.connect + errors.read + errors.write + errors.status +
      errors.timeout, latency:percentile(50) / 1e3,
      latency:percentile(99) / 1e3))
end
