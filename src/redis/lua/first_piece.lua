-- Make a temporary key of its full length, by its last piece.
-- KEYS: the key.
-- ARGV: ttl in ms; where the piece starts; its bytes.
-- Answers the length.
local length = redis.call('SETRANGE', KEYS[1], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return length
