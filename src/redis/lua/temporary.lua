-- Make a temporary key, which then has a time to live.
-- KEYS: the key.
-- ARGV: ttl in ms; a command about the key, and its other arguments.
-- Answers what the command does.
local answer = redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return answer
