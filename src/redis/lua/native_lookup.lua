-- Look elements up in a filter of RedisBloom's, after guard.lua.
-- KEYS: the filter; its hash, if there can be one.
-- ARGV after the guards: elements.
-- Answers a character an element, 1 for one that is there; nil where the filter
-- is another one, or gone.
if changed() or c('EXISTS', KEYS[1]) == 0 then return false end
local answers = c('BF.MEXISTS', KEYS[1], unpack(ARGV, a))
for i, answer in ipairs(answers) do
  answers[i] = (answer == 1 or answer == true) and '1' or '0'
end
return table.concat(answers)
