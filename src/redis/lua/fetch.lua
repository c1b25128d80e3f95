-- The strings of a filter, after guard.lua.
-- KEYS: strings, hashes and cursor, as far as there are such.
-- ARGV after the guards: the number of the hash that excuses a string that is not
-- there unless it has a field filled (0: nothing does); number of strings.
-- Answers the strings, nil for one that need not be there; -i where string i is
-- gone; nil where the filter is another one.
if changed() then return false end
local excuse, strings = KEYS[tonumber(ARGV[a])], {}
for i = 1, tonumber(ARGV[a + 1]) do
  strings[i] = c('GET', KEYS[i])
  if not strings[i] and
    (not excuse or c('HEXISTS', excuse, 'filled') == 1) then return -i end
end
return strings
