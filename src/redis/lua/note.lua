-- Note of what kind the elements of a filter are; after guard.lua, strings.lua
-- and noting.lua.
-- KEYS: the filter's string, hashes and cursor, as far as there are such.
-- ARGV after the guards: what lost() reads; the key's type, if it is no string; the
-- first bytes of the string; what note() reads.
-- Answers 1, or 0 where the filter is another one.
if changed() or lost() then return 0 end
local type, head = c('TYPE', KEYS[1]).ok, ARGV[a + 1]
local there = type ~= 'none'
if ARGV[a] ~= '' and type ~= ARGV[a] then return 0 end
if head ~= '' and c('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return 0 end
a = a + 2
return note(there and KEYS[1] or KEYS[2]) and 1 or 0
