-- Remove a filter, if it is still the one described; after guard.lua and others.lua.
-- KEYS: its strings, hashes and cursor, as far as there are any.
-- ARGV after the guards: the head of the first string, or ''; number of keys of strings,
--   which are left alone if they are somebody else's now; 1 if these strings have no hash
--   of their own next to them, so that such a hash is another filter's, else 0.
-- Returns the number of keys that existed; -1 if the filter has been replaced.
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
