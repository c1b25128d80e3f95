-- Give a filter's string a temporary name, if it still is that filter's, and note
-- what its first elements decide; after guard.lua, strings.lua and noting.lua.
-- KEYS: the string; the temporary name; hashes, as far as there are such.
-- ARGV after the guards: what lost() reads; the head, or ''; what note() reads.
-- Answers 1; -1 where the string is lost; nil where the filter is another one.
--
-- A string that comes into being (in a layout where an empty filter has none)
-- lives as long as the hash.  An empty string is left where one with a time to
-- live was.
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
-- What attach.lua calls: whoever may not, is refused before the string has the name.
c('TYPE', temporary)
c('EXISTS', temporary)
c('DEL', temporary)
c('RENAME', bits, temporary)
if c('PTTL', temporary) >= 0 then c('SET', bits, '') end
return 1
