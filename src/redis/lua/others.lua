-- Whether the key for a string, or for a module's type, holds another builtin type.
local function is_foreign(key)
  local foreign = {list = true, set = true, zset = true, hash = true, stream = true}
  return foreign[redis.call('TYPE', key).ok]
end
-- Whether the key for a string is somebody else's: it holds another type, or a string that
-- a hash next to it describes as a filter of its own; or it is missing, and Redisson's
-- hash describes an empty filter.
local function is_others(key)
  local is = redis.call('TYPE', key).ok
  local own = key:find('{', 1, true) and key or '{' .. key .. '}'
  if is == 'none' then return redis.call('EXISTS', own .. ':config') == 1 end
  return is ~= 'string' or redis.call('EXISTS', own .. ':bloomext') == 1
end
