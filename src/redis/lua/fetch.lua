-- The strings of a filter, after guard.lua and strings.lua.
-- KEYS: strings, hashes and cursor, as far as there are such.
-- ARGV after the guards: what lost() reads; number of strings.
-- Answers the strings, nil for one that need not be there; -i where string i is
-- lost; nil where the filter is another one.
if changed() then return false end
local gone, strings = lost(), {}
if gone then return -gone end
for i = 1, tonumber(ARGV[a]) do strings[i] = c('GET', KEYS[i]) end
return strings
