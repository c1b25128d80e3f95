-- Precedes scripts about a filter of RedisBloom's.
-- The fields in the reply of BF.INFO, by name; none if the reply is an error.
local function told(info)
  local fields = {}
  for i = 1, #info, 2 do fields[info[i].ok or info[i]] = info[i + 1] end
  return fields
end
-- The number of elements that were new to it; nil if the account lacks the right.
local function count(key)
  return told(redis.pcall('BF.INFO', key))['Number of items inserted']
end
-- Whether that is less than the witness records: then the filter was created again.
local function has_fewer(key, witness)
  local least = tonumber(witness)
  return least and (count(key) or least) < least
end
