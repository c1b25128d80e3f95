-- Add elements to a filter of RedisBloom's, and note what its first elements decide,
-- and the number of its elements if that is at least twice the noted one; after
-- guard.lua, native.lua and noting.lua.
-- KEYS: the filter; its hash, if it can have one.
-- ARGV after the guards: the type of such a filter; what note() reads; elements.
-- Returns the reply of BF.INSERT; nil if the filter has been replaced.
if changed() or c('TYPE', KEYS[1]).ok ~= ARGV[a] or has_fewer(KEYS[1], witness) then return false end
a = a + 1
if not note(KEYS[1]) then return false end
local answers = c('BF.INSERT', KEYS[1], 'NOCREATE', 'ITEMS', unpack(ARGV, a))
if KEYS[2] and c('TYPE', KEYS[2]).ok == 'hash' then
  local items, least = count(KEYS[1]) or 0, tonumber(c('HGET', KEYS[2], 'witness') or '') or 0
  if items > 0 and items >= 2 * least then c('HSET', KEYS[2], 'witness', ('%.0f'):format(items)) end
end
return answers
