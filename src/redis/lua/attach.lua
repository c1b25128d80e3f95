-- Give a filter's string its own name back, after detach.lua.
-- KEYS: the string; the temporary name.
--
-- What had a time to live and has none now has expired in between.
local c, bits, temporary = redis.call, KEYS[1], KEYS[2]
if c('TYPE', temporary).ok == 'list' then
  c('DEL', temporary)
elseif c('EXISTS', bits) == 0 or c('PTTL', temporary) >= 0 then
  c('RENAME', temporary, bits)
else
  c('DEL', temporary, bits)
end
