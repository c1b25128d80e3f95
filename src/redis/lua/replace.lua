-- Put keys that were written under temporary names in the place of a filter's,
-- all at once.
-- KEYS: n temporary keys, n keys of layers, then hashes and cursor, if any, then
-- older layers to be removed.
-- ARGV: n, ttl in ms (0: none), what the cursor is to be ('': there is none);
-- number of hashes; of each how many fields and values it has, and these.
-- Answers 1, or 0 where a temporary key is gone.
local c = redis.call
local n, ttl, a = tonumber(ARGV[1]), tonumber(ARGV[2]), 5
local function last(key)
  if ttl > 0 then c('PEXPIRE', key, ttl) else c('PERSIST', key) end
end
for i = 1, n do
  if c('EXISTS', KEYS[i]) == 0 then return 0 end
end
for i = 1, n do
  c('RENAME', KEYS[i], KEYS[n + i])
  last(KEYS[n + i])
end
local k = 2 * n + 1
for _ = 1, tonumber(ARGV[4]) do
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
