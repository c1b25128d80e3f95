-- Give a filter's string its own name back, after detach.lua.
-- KEYS: the string; the temporary name.
--
-- What had a time to live and has none now has expired in between.
local c, bits, aside = redis.call, KEYS[1], KEYS[2]
if c('TYPE', aside).ok == 'list' then
  c('DEL', aside)
elseif c('EXISTS', bits) == 0 or c('PTTL', aside) >= 0 then
  c('RENAME', aside, bits)
else
  c('DEL', aside, bits)
end
