-- Give the string of a filter a temporary name, if it is still that filter's, and note
-- what the first elements decide; after guard.lua, strings.lua and noting.lua.
-- KEYS: the string; the temporary name; hashes, as far as there are any.
-- ARGV after the guards: what lost() reads; the head, or ''; what note() reads.
-- Returns 1; -1 if the string is lost; nil if the filter has been replaced.
--
-- A string that is created here (in a layout where an empty filter has none) expires
-- with the hash.  While a string with a time to live has the temporary name, an empty
-- string is in its place.
if changed() then return false end
if lost() then return -1 end
local bits, temporary, head = KEYS[1], KEYS[2], ARGV[a]
a = a + 1
local there = c('STRLEN', bits) > 0
if head ~= '' and c('GETRANGE', bits, 0, #head - 1) ~= head then return false end
if not note(KEYS[3]) then return false end
if not there then
  c('SETBIT', bits, 0, 0)
  local ttl = c('PTTL', KEYS[3])
  if ttl > 0 then c('PEXPIRE', bits, ttl) end
end
-- Commands of attach.lua: an account without the right fails before the string is renamed.
c('TYPE', temporary)
c('EXISTS', temporary)
c('DEL', temporary)
c('RENAME', bits, temporary)
if c('PTTL', temporary) >= 0 then c('SET', bits, '') end
return 1
