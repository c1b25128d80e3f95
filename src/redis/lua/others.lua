-- Whether what is at the key of a string, or of a module's type, is of another one.
local function is_foreign(key)
  local foreign = {list = true, set = true, zset = true, hash = true, stream = true}
  return foreign[redis.call('TYPE', key).ok]
end
-- Whether what is at the key of a string is somebody else's: another type, or a string
-- that a hash beside it says to be a filter of its own; or nothing, where Redisson's hash
-- says that it is an empty filter.
local function is_others(key)
  local is = redis.call('TYPE', key).ok
  local own = key:find('{', 1, true) and key or '{' .. key .. '}'
  if is == 'none' then return redis.call('EXISTS', own .. ':config') == 1 end
  return is ~= 'string' or redis.call('EXISTS', own .. ':bloomext') == 1
end
