-- Whether what is at the key of a string is somebody else's: another type, or a string
-- that a hash beside it says to be a filter of its own.
local function is_others(key)
  local is = redis.call('TYPE', key).ok
  local own = (key:find('{', 1, true) and key or '{' .. key .. '}') .. ':bloomext'
  return is ~= 'none' and (is ~= 'string' or redis.call('EXISTS', own) == 1)
end
