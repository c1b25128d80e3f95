-- Create a window of time whose pieces have been made; or remove them, if there is one.
-- KEYS: the filter's key; the hash; the pieces.
-- ARGV: ms of a slice; number of slices; fields and values of the hash.
-- Returns 1; or -1 if the key, or -2 if the hash is somebody else's.  A hash of ours next
--   to a key that does not exist is replaced, unless it is that of a window.
local c, time, length = redis.call, redis.call('TIME'), tonumber(ARGV[1])
local layout = redis.pcall('HGET', KEYS[2], 'layout')
local taken = c('EXISTS', KEYS[1]) == 1 and 1 or (layout == 'window' or type(layout) == 'table') and 2
if taken then
  for i = 3, #KEYS do c('UNLINK', KEYS[i]) end
  return -taken
end
local now = ('%.0f'):format(math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / length))
local ends = ('%.0f'):format((now + ARGV[2] + 2) * length)
c('DEL', KEYS[2])
c('HSET', KEYS[2], 'newest', now, 'turned', now, unpack(ARGV, 3))
c('PEXPIREAT', KEYS[2], ends)
local id = c('HGET', KEYS[2], 'id')
for i = 3, #KEYS do
  c('BITFIELD', KEYS[i], 'SET', 'i64', 0, now)
  c('SETRANGE', KEYS[i], 8, id)
  c('PEXPIREAT', KEYS[i], ends)
end
return 1
