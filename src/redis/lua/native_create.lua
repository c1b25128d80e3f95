-- Make a filter of RedisBloom's, if nothing is there.
-- KEYS: the filter.
-- ARGV: ttl in ms (0: none); the arguments of BF.RESERVE.
-- Answers 1, or 0 where the key is there.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('BF.RESERVE', KEYS[1], unpack(ARGV, 2))
if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
