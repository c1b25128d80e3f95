-- Give the string of a filter its own name back after detach.lua, and write a witness
-- if a hash for it is given; after testify.lua.
-- KEYS: the string; the temporary name; the hash for the witness, if any.
-- ARGV: number of bits of its present witness; words for a new witness.
-- Returns 1.
--
-- If the string had a time to live and has none now, it has expired in between.  Then
-- what has the temporary name is removed, and so is the empty string that detach.lua
-- put in its place.  A service may have set some of the bits in the words, for elements
-- of another kind than the noted one: so field "mirrored" is removed.
local c, bits, temporary = redis.call, KEYS[1], KEYS[2]
if c('TYPE', temporary).ok == 'list' then
  c('DEL', temporary)
elseif c('EXISTS', bits) == 0 or c('PTTL', temporary) >= 0 then
  c('RENAME', temporary, bits)
  if KEYS[3] and c('EXISTS', KEYS[3]) == 1 then
    local words = testimony(bits, tonumber(ARGV[1]), {unpack(ARGV, 2)})
    if words then
      c('HSET', KEYS[3], 'witness', ('%.0f'):format(c('STRLEN', bits)) .. words)
      c('HDEL', KEYS[3], 'mirrored')
    end
  end
else
  c('DEL', temporary)
  if c('STRLEN', bits) == 0 then c('DEL', bits) end
end
return 1
