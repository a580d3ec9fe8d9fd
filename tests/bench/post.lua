-- Posts one body with given headers; every answer must be a 200 that holds the expected words. Where there are seeds,
-- TOKEN in the body is one of them, and the refresh_token of the answer takes its place.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local function read(path)
    local file = io.open(path, "rb")
    local text = file:read("*a")
    file:close()
    return text
  end
  bad = 0
  expected = read(args[1])
  wrk.method = "POST"
  wrk.body = read(args[2])
  for line in read(args[3]):gmatch("[^\n]+") do
    local name, value = line:match("^([^:]+): (.*)$")
    wrk.headers[name] = value
  end
  pool = {}
  for line in read(args[4]):gmatch("[^\n]+") do
    table.insert(pool, line)
  end
  seeded = #pool > 0
  if seeded then
    request = function()
      return wrk.format(nil, nil, nil, (wrk.body:gsub("TOKEN", table.remove(pool))))
    end
  end
end

function response(status, headers, body)
  if seeded then
    table.insert(pool, body:match('"refresh_token":"([^"]+)"'))
  end
  if status ~= 200 or not body:find(expected, 1, true) then
    bad = bad + 1
  end
end

function done(summary, latency, requests)
  local wrong = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  for _, thread in ipairs(threads) do
    wrong = wrong + thread:get("bad")
  end
  io.write(string.format("\nRESULT %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), wrong))
end
