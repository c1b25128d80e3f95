-- What is at a key, and at keys beside it, at one moment; after witness.lua.
-- KEYS: the key, then those beside it.
-- ARGV: number of types that are not strings, and of each its name and the
-- command that gives its header; then for each key beside, how many fields of a
-- hash to read (0: it is a string), their names, which of them is a witness (0: none)
-- and of how many strings, and the numbers of their keys.
-- Answers type, first bytes and length of the key; then for each key beside the
-- fields' values, and which string the witness disproves (0: none); or the string's
-- length (-1: it is something else) and first bytes; nil where it is not there, or no
-- hash.
local c = redis.call
-- The number of the first string, of those with these keys, that has not what its part of
-- a witness says; or 0.
local function disproved(witness, keys)
  local i = 0
  for part in witness:gmatch('[^;]+') do
    i = i + 1
    if not keys[i] then break end
    local done, proved = pcall(function()
      return c('STRLEN', keys[i]) >= tonumber(part:match('^%d+') or 0) and has(keys[i], part, 8)
    end)
    -- A right that is missing says nothing of the string.
    local why = not done and (type(proved) == 'table' and proved.err or proved) or ''
    if why:find('NOPERM') or why:find("can't run") or why:find('ACL failure') then c('BITFIELD_RO', keys[i], 'GET', 'u32', '#0') end
    if not (done and proved) then return i end
  end
  return 0
end
local t = c('TYPE', KEYS[1]).ok
local r, a = {t, '', 0}, 2
for _ = 1, tonumber(ARGV[1]) do
  if t == ARGV[a] then
    local header = redis.pcall(ARGV[a + 1], KEYS[1], 0)
    r[2] = not header.err and header[2] or ''
  end
  a = a + 2
end
if t == 'string' then
  r[2] = c('GETRANGE', KEYS[1], 0, 7)
  r[3] = c('STRLEN', KEYS[1])
end
for i = 2, #KEYS do
  local n = tonumber(ARGV[a])
  local t = c('TYPE', KEYS[i]).ok
  r[i + 2] = false
  if n == 0 and t == 'string' then
    r[i + 2] = {c('STRLEN', KEYS[i]), c('GETRANGE', KEYS[i], 0, 19)}
  elseif n == 0 and t ~= 'none' then
    r[i + 2] = {-1, ''}
  elseif n > 0 and t == 'hash' then
    local values, keys, w = c('HMGET', KEYS[i], unpack(ARGV, a + 1, a + n)), {}, a + n + 1
    for j = 1, tonumber(ARGV[w + 1]) do keys[j] = KEYS[tonumber(ARGV[w + 1 + j])] end
    values[n + 1] = disproved(values[tonumber(ARGV[w])] or '', keys)
    r[i + 2] = values
  end
  a = a + n + 1 + (n > 0 and 2 + ARGV[a + n + 2] or 0)
end
return r
