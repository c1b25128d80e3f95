-- Remove a filter, if it still is what it was described as; after guard.lua and
-- others.lua.
-- KEYS: its strings, hashes and cursor, as far as there are such.
-- ARGV after the guards: the head of the first string, or ''; how many keys of strings
-- there are, at which somebody else's may have come, and is left alone; 1 where these
-- have no hash of their own as filters.
-- Answers how many keys were there; -1 where it is another one.
if changed() then return -1 end
local head = ARGV[a]
if head ~= '' and redis.pcall('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return -1 end
local mine = {}
for i, key in ipairs(KEYS) do
  local others = i <= tonumber(ARGV[a + 1]) and
    (is_foreign(key) or ARGV[a + 2] == '1' and is_others(key))
  if not others then mine[#mine + 1] = key end
end
return #mine > 0 and c('UNLINK', unpack(mine)) or 0
