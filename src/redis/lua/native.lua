-- What precedes scripts about a filter of RedisBloom's.
-- How many elements were new to it; nil where the account may not know.
local function count(key)
  local info = redis.pcall('BF.INFO', key)
  for i = 1, #info, 2 do
    if (info[i].ok or info[i]) == 'Number of items inserted' then return info[i + 1] end
  end
end
-- Whether that is less than a witness says: then it was made anew.
local function has_fewer(key, witness)
  local least = tonumber(witness)
  return least and (count(key) or least) < least
end
