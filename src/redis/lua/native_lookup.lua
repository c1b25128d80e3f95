-- Look elements up in a filter of RedisBloom's; after guard.lua and native.lua.
-- KEYS: the filter; its hash, if it can have one.
-- ARGV after the guards: the type of such a filter; elements.
-- Returns a digit for each element, 1 if it is there; nil if the filter has been
--   replaced or is gone.
--
-- BF.MEXISTS returns 0 for a key that is missing or of another type.
if changed() or c('TYPE', KEYS[1]).ok ~= ARGV[a] or has_fewer(KEYS[1], witness) then return false end
local answers = c('BF.MEXISTS', KEYS[1], unpack(ARGV, a + 1))
for i, answer in ipairs(answers) do
  answers[i] = (answer == 1 or answer == true) and '1' or '0'
end
return table.concat(answers)
