-- Remove a filter, if it still is what it was described as; after guard.lua.
-- KEYS: its strings, hashes and cursor, as far as there are such.
-- ARGV after the guards: the head of the first string, or ''.
-- Answers how many keys were there; -1 where it is another one.
if changed() then return -1 end
local head = ARGV[a]
if head ~= '' and redis.pcall('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return -1 end
return c('UNLINK', unpack(KEYS))
