-- Read what RedisBloom reports of a filter; after native.lua.
-- KEYS: the filter.
-- Returns the number of elements that were new to it, its bytes, and its ttl in ms
--   (negative: none); nil if it is gone.
local c = redis.call
if c('EXISTS', KEYS[1]) == 0 then return false end
local is = told(c('BF.INFO', KEYS[1]))
return {is['Number of items inserted'], is['Size'], c('PTTL', KEYS[1])}
