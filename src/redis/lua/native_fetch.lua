-- Read the dump of a filter of RedisBloom's; after guard.lua and native.lua.
-- KEYS: the filter; its hash, if it can have one.
-- ARGV after the guards: the type of such a filter.
-- Returns the parts of the dump, its header first; nil if the filter has been replaced
--   or is gone.
if changed() or c('TYPE', KEYS[1]).ok ~= ARGV[a] or has_fewer(KEYS[1], witness) then return false end
local parts, cursor = {}, 0
repeat
  local part = c('BF.SCANDUMP', KEYS[1], cursor)
  cursor = part[1]
  parts[#parts + 1] = part[2]
until cursor == 0
return parts
