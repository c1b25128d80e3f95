-- What precedes scripts about a filter of RedisBloom's.
-- What BF.INFO says, by name; nothing where that is an error.
local function told(info)
  local fields = {}
  for i = 1, #info, 2 do fields[info[i].ok or info[i]] = info[i + 1] end
  return fields
end
-- How many elements were new to it; nil where the account may not know.
local function count(key)
  return told(redis.pcall('BF.INFO', key))['Number of items inserted']
end
-- Whether that is less than a witness says: then it was made anew.
local function has_fewer(key, witness)
  local least = tonumber(witness)
  return least and (count(key) or least) < least
end
