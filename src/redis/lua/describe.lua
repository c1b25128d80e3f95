-- What is at a key, and at keys beside it, at one moment.
-- KEYS: the key, then those beside it.
-- ARGV: types that are not read as a string is, in one text; then for each key
-- beside, how many fields of a hash to read, and their names; 0 for a string.
-- Answers type, first bytes and length of the key; then for each key beside
-- the fields' values, or the string's first bytes; nil where it is no such.
local c = redis.call
local t = c('TYPE', KEYS[1]).ok
local r = {t, '', 0}
if not ARGV[1]:find(t, 1, true) then
  r[2] = c('GETRANGE', KEYS[1], 0, 7)
  r[3] = c('STRLEN', KEYS[1])
end
local a = 2
for i = 2, #KEYS do
  local n = tonumber(ARGV[a])
  local t = c('TYPE', KEYS[i]).ok
  r[i + 2] = false
  if n == 0 and t == 'string' then
    r[i + 2] = c('GETRANGE', KEYS[i], 0, 19)
  elseif n > 0 and t == 'hash' then
    r[i + 2] = c('HMGET', KEYS[i], unpack(ARGV, a + 1, a + n))
  end
  a = a + n + 1
end
return r
