-- Put keys that were written under temporary names in the place of a filter's,
-- all at once.
-- KEYS: n temporary keys, n keys of layers, then hashes and cursor, if any, then
-- older layers to be removed.
-- ARGV: n, ttl in ms (0: none), what the cursor is to be ('': there is none);
-- of each temporary key the length that it must have ('': it is no string), and
-- bytes at equal distances, the last one among them; number of hashes; of each
-- how many fields and values it has, and these.
-- Answers 1; or 0 where a temporary key is gone or another one: then all are.
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
for i = 1, n do
  if not is_whole(KEYS[i], tonumber(ARGV[2 * i + 2]), ARGV[2 * i + 3]) then
    c('UNLINK', unpack(KEYS, 1, n))
    return 0
  end
end
for i = 1, n do
  c('RENAME', KEYS[i], KEYS[n + i])
  last(KEYS[n + i])
end
local a, k = 2 * n + 5, 2 * n + 1
for _ = 1, tonumber(ARGV[2 * n + 4]) do
  local count = tonumber(ARGV[a])
  c('DEL', KEYS[k])
  if count > 0 then c('HSET', KEYS[k], unpack(ARGV, a + 1, a + count)) end
  last(KEYS[k])
  a, k = a + count + 1, k + 1
end
if ARGV[3] ~= '' then
  c('SET', KEYS[k], ARGV[3])
  last(KEYS[k])
  k = k + 1
end
for i = k, #KEYS do c('DEL', KEYS[i]) end
return 1
