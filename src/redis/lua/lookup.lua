-- Look elements up in all layers, after guard.lua and layers.lua.
-- KEYS: layers, hashes and cursor, as far as there are such.
-- ARGV after the guards: the head of the first string, or ''; the number of the hash
-- that excuses a string that is not there unless it has a field filled (0: nothing
-- does); what layers.lua reads.
-- Answers a character an element, 1 for one that is there; -i where string i is
-- gone; nil where the filter is another one.
if changed() then return false end
local head, excuse = ARGV[a], KEYS[tonumber(ARGV[a + 1])]
if head ~= '' and c('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return false end
a = a + 2
read_shapes()
for i = 1, layers do
  if c('EXISTS', KEYS[i]) == 0 and
    (not excuse or c('HEXISTS', excuse, 'filled') == 1) then return -i end
end
local answers, m = {}, 0
for e = a, #ARGV, step do
  m = m + 1
  answers[m] = found(e) and '1' or '0'
end
return table.concat(answers)
