-- Read what is at a key, and at side keys, at one moment; after witness.lua.
-- KEYS: the key; side keys.
-- ARGV: number of types of keys other than strings; for each, its name and the command
--   that returns its header; then for each side key, the number of fields of a hash to
--   be read (0: it is a string), their names, the number of the one that is a witness
--   (0: none), the number of its strings, and the numbers of their keys.
-- Returns type, first bytes and length of the key; then for each side key the values
--   of the fields, and the number of the string that the witness disproves (0: none);
--   or length (-1: not a string) and first bytes of the string; nil if it is missing;
--   -1 if it is to be a hash, and is not.
local c = redis.call
-- The number of the first string, of those with these keys, that lacks bits or length
-- of its part of a witness; or 0.
local function disproved(witness, keys)
  local i = 0
  for part in witness:gmatch('[^;]+') do
    i = i + 1
    if not keys[i] then break end
    local done, proved = pcall(function()
      return c('STRLEN', keys[i]) >= tonumber(part:match('^%d+') or 0) and has(keys[i], part)
    end)
    -- A missing right proves nothing about the string: raise it by another call.
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
  elseif n > 0 and t ~= 'hash' and t ~= 'none' then
    r[i + 2] = -1
  elseif n > 0 and t == 'hash' then
    local values, keys, w = c('HMGET', KEYS[i], unpack(ARGV, a + 1, a + n)), {}, a + n + 1
    for j = 1, tonumber(ARGV[w + 1]) do keys[j] = KEYS[tonumber(ARGV[w + 1 + j])] end
    values[n + 1] = disproved(values[tonumber(ARGV[w])] or '', keys)
    r[i + 2] = values
  end
  a = a + n + 1 + (n > 0 and 2 + ARGV[a + n + 2] or 0)
end
return r
