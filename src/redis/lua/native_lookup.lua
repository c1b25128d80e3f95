-- Look elements up in a filter of RedisBloom's, after guard.lua
-- and native.lua.
-- KEYS: the filter; its hash, if there can be one.
-- ARGV after the guards: the type of such a filter; elements.
-- Answers a character an element, 1 for one that is there; nil where the filter
-- is another one, or gone.
--
-- BF.MEXISTS says 0 of a key that is missing, or of another type.
if changed() or c('TYPE', KEYS[1]).ok ~= ARGV[a] or has_fewer(KEYS[1], witness) then return false end
local answers = c('BF.MEXISTS', KEYS[1], unpack(ARGV, a + 1))
for i, answer in ipairs(answers) do
  answers[i] = (answer == 1 or answer == true) and '1' or '0'
end
return table.concat(answers)
