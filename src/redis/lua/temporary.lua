-- Make a temporary key by a command, and give it a time to live.
-- KEYS: the key.
-- ARGV: ttl in ms; a command about the key; its other arguments.
-- Returns the reply of the command.
local answer = redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return answer
