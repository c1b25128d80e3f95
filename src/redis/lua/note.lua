-- Note the kind of the elements of a filter; after guard.lua, native.lua, strings.lua
-- and noting.lua.
-- KEYS: the filter's strings, hashes and cursor, as far as there are any.
-- ARGV after the guards: what lost() reads; the type of the key, if it is not a
--   string; the first bytes of the string; what note() reads.
-- Returns 1; -i if string i is lost; nil if the filter has been replaced.
if changed() then return false end
local gone = lost()
if gone then return -gone end
local type, head = c('TYPE', KEYS[1]).ok, ARGV[a + 1]
local there = type ~= 'none'
if ARGV[a] ~= '' and (type ~= ARGV[a] or has_fewer(KEYS[1], witness)) then return false end
if head ~= '' and c('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return false end
a = a + 2
return note(there and KEYS[1] or KEYS[2]) and 1
