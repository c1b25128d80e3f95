-- A digest of each block of a part of a string.
-- KEYS: the string.
-- ARGV: its length, the part's first offset and end, bytes of a block.
-- Answers the digests, one after another, each of 32 hexadecimal digits; nil
-- where the string has another length.
local c, block = redis.call, tonumber(ARGV[4])
if c('STRLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return false end
local digests, n = {}, 0
for at = tonumber(ARGV[2]), ARGV[3] - 1, block do
  n = n + 1
  digests[n] = redis.sha1hex(c('GETRANGE', KEYS[1], at, at + block - 1)):sub(1, 32)
end
return table.concat(digests)
