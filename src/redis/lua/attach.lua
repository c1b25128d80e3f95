-- Give a filter's string its own name back, after detach.lua; and a witness, if it is
-- to have one; after testify.lua.
-- KEYS: the string; the temporary name; the hash for the witness, if any.
-- ARGV: the bits that its witness has; the string's length; the words to be the witness.
-- Answers 1.
--
-- What had a time to live and has none now has expired in between, and has left the empty
-- string of detach.lua.  Words as they are
-- may have bits of a service's, of another kind than that which is noted.
local c, bits, temporary = redis.call, KEYS[1], KEYS[2]
if c('TYPE', temporary).ok == 'list' then
  c('DEL', temporary)
elseif c('EXISTS', bits) == 0 or c('PTTL', temporary) >= 0 then
  c('RENAME', temporary, bits)
  if KEYS[3] and c('EXISTS', KEYS[3]) == 1 then
    local words = testimony(bits, tonumber(ARGV[1]), {unpack(ARGV, 3)})
    if words then
      c('HSET', KEYS[3], 'witness', ARGV[2] .. words)
      c('HDEL', KEYS[3], 'mirrored')
    end
  end
else
  c('DEL', temporary)
  if c('STRLEN', bits) == 0 then c('DEL', bits) end
end
return 1
