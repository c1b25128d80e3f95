-- Give a filter's string a temporary name, if it still is that filter's.
-- KEYS: the string; the temporary name; the string's hash, if any.
-- ARGV: the head, or ''; 1 if the string must be there; fields of the hash that
-- must be the same, with values.
-- Answers 1, or 0 where the filter is another one.
--
-- A string that comes into being (in a layout where an empty filter has none)
-- lives as long as the hash.  An empty string is left where one with a time to
-- live was.
local c = redis.call
local bits, temporary, config, head = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local there = c('STRLEN', bits) > 0
if head ~= '' and c('GETRANGE', bits, 0, #head - 1) ~= head then return 0 end
for i = 3, #ARGV, 2 do
  if c('HGET', config, ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
if not there then
  if ARGV[2] == '1' then return 0 end
  c('SETBIT', bits, 0, 0)
  local ttl = c('PTTL', config)
  if ttl > 0 then c('PEXPIRE', bits, ttl) end
end
c('RENAME', bits, temporary)
if c('PTTL', temporary) >= 0 then c('SET', bits, '') end
return 1
