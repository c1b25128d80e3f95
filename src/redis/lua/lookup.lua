-- Look elements up in all layers, after guard.lua, strings.lua and layers.lua.
-- KEYS: layers, hashes and cursor, as far as there are such.
-- ARGV after the guards: what lost() reads; the head of the first string, or '';
-- what layers.lua reads.
-- Answers a character an element, 1 for one that is there; -i where string i is
-- lost; nil where the filter is another one.
if changed() then return false end
local gone, head = lost(), ARGV[a]
if gone then return -gone end
if head ~= '' and c('GETRANGE', KEYS[1], 0, #head - 1) ~= head then return false end
a = a + 1
read_shapes()
local answers, m = {}, 0
for e = a, #ARGV, step do
  m = m + 1
  answers[m] = found(e) and '1' or '0'
end
return table.concat(answers)
