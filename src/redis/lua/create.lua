-- Make all keys of a filter or, where there is one, none.
-- KEYS: the string, hash and cursor, as far as there are such.
-- ARGV: ttl in ms (0: none); the string's length ('': it is not made yet) and
-- its head; what the cursor is to be ('': there is none); the hash's fields and
-- values.
-- Answers 1, or 0 where the string or, if it is not made, any key is there.
local c, ttl, k = redis.call, tonumber(ARGV[1]), 2
for i = 1, ARGV[2] ~= '' and 1 or #KEYS do
  if c('EXISTS', KEYS[i]) == 1 then return 0 end
end
for i = 2, #KEYS do c('DEL', KEYS[i]) end
if ARGV[2] ~= '' then
  c('SETBIT', KEYS[1], ARGV[2] * 8 - 1, 0)
  if ARGV[3] ~= '' then c('SETRANGE', KEYS[1], 0, ARGV[3]) end
end
if #ARGV > 4 then
  c('HSET', KEYS[k], unpack(ARGV, 5))
  k = k + 1
end
if ARGV[4] ~= '' then c('SET', KEYS[k], ARGV[4]) end
if ttl > 0 then
  for i = 1, #KEYS do c('PEXPIRE', KEYS[i], ttl) end
end
return 1
