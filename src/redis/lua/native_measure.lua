-- What RedisBloom tells of a filter.
-- KEYS: the filter.
-- Answers how many elements were new to it, its bytes, and its ttl in ms
-- (negative: none); nil where it is gone.
local c = redis.call
if c('EXISTS', KEYS[1]) == 0 then return false end
local info, told = c('BF.INFO', KEYS[1]), {}
for i = 1, #info, 2 do told[info[i].ok or info[i]] = info[i + 1] end
return {told['Number of items inserted'], told['Size'], c('PTTL', KEYS[1])}
