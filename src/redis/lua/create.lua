-- Create all keys of a filter; or none, if one of them exists and may be somebody
-- else's.
-- KEYS: the string, hashes and cursor, as far as there are any; then keys that the
--   filter is going to have.
-- ARGV: ttl in ms (0: none); number of the key that may be replaced, as no other
--   program has one of its name (0: none); length of the string ('': not made yet) and
--   its head; contents of the cursor ('': none); number of hashes; for each, the
--   number of its fields and values, and these.
-- Returns 1; or -i if key i exists.
local c, ttl, a, replaced = redis.call, tonumber(ARGV[1]), 7, tonumber(ARGV[2])
for i = 1, #KEYS do
  if i ~= replaced and c('EXISTS', KEYS[i]) == 1 then return -i end
end
if replaced > 0 then
  local is = c('TYPE', KEYS[replaced]).ok
  if is ~= 'hash' and is ~= 'none' then return -replaced end
  c('DEL', KEYS[replaced])
end
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
