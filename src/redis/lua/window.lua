-- Precedes scripts about a window of time, after guard.lua: the slice of now, and which
-- lanes of its pieces are live.  See driver_window.c.
-- KEYS: pieces, then the hash, and maybe more.
-- ARGV goes on with ms of a slice; number of slices; number of pieces given, and for
--   each its number, from 0, and its length.
-- read_window() returns an error if the clock is too far behind the newest slice, -i if
-- the piece with number i - 1 is lost, or is not what the hash says; else nil.  The tables
-- are by the piece's number, as text.
local hash, length, slices, now, newest, turned
local key, cleared, live = {}, {}, {}
local function slice_number(text)
  return tonumber((text or ''):match('^%d+$')) or -1
end
local function read_window()
  length, slices = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local pieces, time = tonumber(ARGV[a + 2]), c('TIME')
  a, hash = a + 3, KEYS[pieces + 1]
  local noted = c('HMGET', hash, 'newest', 'turned', 'id')
  newest, turned = slice_number(noted[1]), slice_number(noted[2])
  now = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / length)
  if newest > now + 1 then
    return redis.error_reply('BEHIND The clock is behind the newest slice of the window of time.')
  end
  now = math.max(now, newest)
  for i = 1, pieces do
    local n = ARGV[a]
    if redis.pcall('STRLEN', KEYS[i]) ~= tonumber(ARGV[a + 1]) then return -n - 1 end
    local high, low, id = struct.unpack('>I4I4c16', c('GETRANGE', KEYS[i], 0, 23))
    local at = high * 2 ^ 32 + low
    if id ~= noted[3] or at < turned or at > newest then return -n - 1 end
    local oldest = math.max(now - slices - 1, at - 31)
    local lanes = math.max(at - oldest + 1, 0)
    key[n], cleared[n], live[n] = KEYS[i], at, bit.rol(2 ^ lanes - 1, oldest % 32)
    a = a + 2
  end
end
