-- Make a piece of a window of time that is going to be created.
-- KEYS: the piece.
-- ARGV: its length; time to live in ms, until window_create.lua.
redis.call('SETBIT', KEYS[1], ARGV[1] * 8 - 1, 0)
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
