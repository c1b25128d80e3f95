-- Look elements up in all layers; after guard.lua, strings.lua and layers.lua.
-- KEYS: layers, hashes and cursor, as far as there are any.
-- ARGV after the guards: what lost() reads; the head of the first string, or ''; what
--   layers.lua reads.
-- Returns a digit for each element, 1 if it is there; -i if string i is lost; nil if
--   the filter has been replaced.
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
