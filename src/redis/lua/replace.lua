-- Replace the keys of a filter by keys that were written under temporary names, all at
-- once; after others.lua.
-- KEYS: n temporary keys; n keys of layers; hashes and cursor, if any; older layers to
--   be removed.
-- ARGV: n; ttl in ms (0: none); contents of the cursor ('': none); for each temporary
--   key the length that it must have ('': not a string), and bytes at equal distances,
--   the last one included; number of hashes; for each, two fields by which an existing
--   one is recognized as a filter's (both '': by its name), the number of its fields
--   and values, and these.
-- Returns 1; 0 if a temporary key is gone or has changed; -i if key i is somebody
--   else's.  In the last two cases the temporary keys are removed.
--
-- The keys of layers and of the cursor are the filter's own if its first hash exists,
-- and the cursor or this hash lists them.  If the filter has no cursor, its string was
-- checked before; if the key holds anything else, that has come since.
local c = redis.call
local n, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])
local function last(key)
  if ttl > 0 then c('PEXPIRE', key, ttl) else c('PERSIST', key) end
end
local function is_whole(key, length, sample)
  if not length then return c('EXISTS', key) == 1 end
  if redis.pcall('STRLEN', key) ~= length then return false end
  for i = 1, #sample do
    local at = math.floor((length - 1) * (i - 1) / (#sample - 1))
    if c('GETRANGE', key, at, at) ~= sample:sub(i, i) then return false end
  end
  return true
end
local function give_up(answer)
  if n > 0 then c('UNLINK', unpack(KEYS, 1, n)) end
  return answer
end
local hashes = tonumber(ARGV[2 * n + 4])
-- The number of a key that is somebody else's, or nil.
local function taken()
  local a, layers = 2 * n + 5, 0
  for i = 2 * n + 1, 2 * n + hashes do
    local is = ARGV[a] ~= '' and redis.pcall('HMGET', KEYS[i], ARGV[a], ARGV[a + 1], 'layers')
    if is and c('EXISTS', KEYS[i]) == 1 then
      if is.err or not (is[1] and is[2]) then return i end
      layers = tonumber(is[3] or 1)
    end
    a = a + 3 + ARGV[a + 2]
  end
  for i = n + 1, 2 * n do
    if is_foreign(KEYS[i]) then return i end
  end
  if ARGV[3] == '' then return nil end
  local cursor = 2 * n + hashes + 1
  if c('EXISTS', KEYS[cursor]) == 1 then
    local newest = layers > 0 and redis.pcall('GET', KEYS[cursor])
    if type(newest) ~= 'string' then return cursor end
    layers = math.max(layers, (tonumber(newest) or 0) + 1)
  end
  for i = 1, n do
    if i > layers and c('EXISTS', KEYS[n + i]) == 1 or is_others(KEYS[n + i]) then return n + i end
  end
end
for i = 1, n do
  if not is_whole(KEYS[i], tonumber(ARGV[2 * i + 2]), ARGV[2 * i + 3]) then return give_up(0) end
end
local other = taken()
if other then return give_up(-other) end
for i = 1, n do
  c('RENAME', KEYS[i], KEYS[n + i])
  last(KEYS[n + i])
end
local a, k = 2 * n + 5, 2 * n + 1
for _ = 1, hashes do
  local count = tonumber(ARGV[a + 2])
  c('DEL', KEYS[k])
  if count > 0 then c('HSET', KEYS[k], unpack(ARGV, a + 3, a + 2 + count)) end
  last(KEYS[k])
  a, k = a + 3 + count, k + 1
end
if ARGV[3] ~= '' then
  c('SET', KEYS[k], ARGV[3])
  last(KEYS[k])
  k = k + 1
end
for i = k, #KEYS do
  if not is_others(KEYS[i]) then c('DEL', KEYS[i]) end
end
return 1
