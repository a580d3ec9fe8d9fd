-- Posts bodies in turn with given headers; every answer must be a 200 that holds the expected words. Where there are seeds,
-- TOKEN in the body is one of them, and the refresh_token of the answer takes its place. NUMBER is another each time.
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
  for line in read(args[3]):gmatch("[^\n]+") do
    local name, value = line:match("^([^:]+): (.*)$")
    wrk.headers[name] = value
  end
  pool = {}
  for line in read(args[4]):gmatch("[^\n]+") do
    table.insert(pool, line)
  end
  bodies = {}
  for line in read(args[2]):gmatch("[^\n]+") do
    table.insert(bodies, line)
  end
  wrk.body = bodies[1]
  seeded = #pool > 0
  number = os.time() % 10000 * 10000
  if seeded or wrk.body:find("NUMBER", 1, true) then
    request = function()
      number = number + 1
      local body = wrk.body:gsub("NUMBER", number)
      if seeded then
        body = body:gsub("TOKEN", table.remove(pool))
      end
      return wrk.format(nil, nil, nil, body)
    end
  elseif #bodies > 1 then
    local ready, turn = {}, 0
    for index, body in ipairs(bodies) do
      ready[index] = wrk.format(nil, nil, nil, body)
    end
    request = function()
      turn = turn % #ready + 1
      return ready[turn]
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
