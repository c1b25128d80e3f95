-- Compute a digest of each block of a part of a string.
-- KEYS: the string.
-- ARGV: its length; first offset and end of the part; length of a block.
-- Returns the concatenated digests, 32 hexadecimal digits each; nil if the string has
--   another length.
local c, block = redis.call, tonumber(ARGV[4])
if c('STRLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return false end
local digests, n = {}, 0
for at = tonumber(ARGV[2]), ARGV[3] - 1, block do
  n = n + 1
  digests[n] = redis.sha1hex(c('GETRANGE', KEYS[1], at, at + block - 1)):sub(1, 32)
end
return table.concat(digests)
