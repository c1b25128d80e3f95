-- Note of what kind the elements of a filter are; after guard.lua, native.lua,
-- strings.lua and noting.lua.
-- KEYS: the filter's strings, hashes and cursor, as far as there are such.
-- ARGV after the guards: what lost() reads; the key's type, if it is no string; the
-- first bytes of the string; what note() reads.
-- Answers 1; -i where string i is lost; nil where the filter is another one.
if changed() then return false end
local gone = lost()
if gone then return -gone end
local type, head = c('TYPE', KEYS[1]).ok, ARGV[a + 1]
local there = type ~= 'none'
if ARGV[a] ~= '' and (type ~= ARGV[a] or has_fewer(KEYS[1], witness)) then return false end
if head ~= '' and c('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return false end
a = a + 2
return note(there and KEYS[1] or KEYS[2]) and 1
