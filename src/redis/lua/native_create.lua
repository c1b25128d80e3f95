-- Create a filter of RedisBloom's, if the key does not exist.
-- KEYS: the filter; its hash, if it can have one.
-- ARGV: ttl in ms (0: none); number of hashes, 0 or 1; number of its fields and
--   values, and these; the arguments of BF.RESERVE.
-- Returns 1; -1 if the key exists; -2 if the key of the hash holds something else.
local c, rest = redis.call, 3
if c('EXISTS', KEYS[1]) == 1 then return -1 end
if ARGV[2] == '1' then
  rest = 4 + ARGV[3]
  local is = c('TYPE', KEYS[2]).ok
  if is ~= 'hash' and is ~= 'none' then return -2 end
  c('DEL', KEYS[2])
end
c('BF.RESERVE', KEYS[1], unpack(ARGV, rest))
if rest > 4 then c('HSET', KEYS[2], unpack(ARGV, 4, rest - 1)) end
if ARGV[1] ~= '0' then
  for i = 1, #KEYS do c('PEXPIRE', KEYS[i], ARGV[1]) end
end
return 1
