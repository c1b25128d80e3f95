-- Make the hash of a sharded filter, with the number of shards it is going to have, if
-- there is none.  For readers there is a filter only once the hash has field "shards".
-- KEYS: the hash.
-- ARGV: ttl in ms (0: none); layout; strategy; number of shards; a new id; "awaited"
--   if shards are mirrored, or "creating" if empty ones are made, which must not
--   replace those that are yet to be mirrored.  Shards may be mirrored over empty
--   ones.
-- Returns the hash's id, or nil if it is about another filter.
local c, key = redis.call, KEYS[1]
if c('EXISTS', key) == 0 then
  c('HSET', key, 'layout', ARGV[2], 'strategy', ARGV[3], 'id', ARGV[5], ARGV[6], ARGV[4])
  if ARGV[1] ~= '0' then c('PEXPIRE', key, ARGV[1]) end
end
local is = c('HMGET', key, 'layout', 'strategy', 'id', 'shards', 'creating', ARGV[6])
local same = is[1] == ARGV[2] and (is[2] or ARGV[3]) == ARGV[3] and (is[4] or is[5] or is[6]) == ARGV[4]
return same and (is[3] or '')
