-- Record that a shard has been created or mirrored; the last one completes the filter.
-- KEYS: the hash of the sharded filter.
-- ARGV: ttl in ms (0: none; '': unchanged); the id in that hash; the number of the
--   shard; the number of shards.
-- Returns 1; 2 if this was the last one; 0 if the filter's hash is gone or has been
--   replaced.
local c, key, answer = redis.call, KEYS[1], 1
if c('EXISTS', key) == 0 or (c('HGET', key, 'id') or '') ~= ARGV[2] then return 0 end
if c('HEXISTS', key, 'shards') == 0 then
  c('HSET', key, ARGV[3], 1)
  -- In addition to a field for each shard there are the four of claim.lua.
  if c('HLEN', key) == 4 + ARGV[4] then
    c('HSET', key, 'shards', ARGV[4])
    answer = 2
    c('HDEL', key, 'awaited', 'creating')
    for i = 0, ARGV[4] - 1 do c('HDEL', key, i) end
  end
end
if ARGV[1] == '0' then c('PERSIST', key) elseif ARGV[1] ~= '' then c('PEXPIRE', key, ARGV[1]) end
return answer
