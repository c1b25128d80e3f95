-- Read the strings of a filter; after guard.lua and strings.lua.
-- KEYS: strings, hashes and cursor, as far as there are any.
-- ARGV after the guards: what lost() reads; number of strings.
-- Returns the strings, nil for a missing one that is not required; -i if string i is
--   lost; nil if the filter has been replaced.
if changed() then return false end
local gone, strings = lost(), {}
if gone then return -gone end
for i = 1, tonumber(ARGV[a]) do strings[i] = c('GET', KEYS[i]) end
return strings
