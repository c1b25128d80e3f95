-- Make all keys of a filter or, where there is one that may be somebody else's, none.
-- KEYS: the string, hashes and cursor, as far as there are such; then keys that the
-- filter is going to have.
-- ARGV: ttl in ms (0: none); which of the keys is replaced, as nobody else has one of
-- its name (0: none); the string's length ('': it is not made yet) and its head; what
-- the cursor is to be ('': there is none); number of hashes; of each how many fields
-- and values it has, and these.
-- Answers 1; or -i where key i is there.
local c, ttl, a, replaced = redis.call, tonumber(ARGV[1]), 7, tonumber(ARGV[2])
for i = 1, #KEYS do
  if i ~= replaced and c('EXISTS', KEYS[i]) == 1 then return -i end
end
if replaced > 0 then c('DEL', KEYS[replaced]) end
if ARGV[3] ~= '' then
  c('SETBIT', KEYS[1], ARGV[3] * 8 - 1, 0)
  if ARGV[4] ~= '' then c('SETRANGE', KEYS[1], 0, ARGV[4]) end
end
for i = 1, tonumber(ARGV[6]) do
  local n = tonumber(ARGV[a])
  if n > 0 then c('HSET', KEYS[i + 1], unpack(ARGV, a + 1, a + n)) end
  a = a + n + 1
end
if ARGV[5] ~= '' then c('SET', KEYS[ARGV[6] + 2], ARGV[5]) end
if ttl > 0 then
  for i = 1, #KEYS do c('PEXPIRE', KEYS[i], ttl) end
end
return 1
