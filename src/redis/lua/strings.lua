-- Follows witness.lua and guard.lua: are the strings of a filter still its own?
-- ARGV goes on with the number of the hash that excuses a missing string unless it has
--   field "filled" (0: none); the number of strings, which are the first keys; and the
--   length of each (0: any).
-- lost() returns the number of the first string that is gone, cut short or was created
-- again, as far as four words of its witness show and, of a string without a length of
-- its own, the length there; or nil.
local function lost()
  local excuse, strings, parts = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1]), witness:gmatch('[^;]+')
  a = a + 2 + strings
  for i = 1, strings do
    local length, wanted, part = redis.pcall('STRLEN', KEYS[i]), ARGV[a - strings + i - 1], parts()
    if wanted ~= '0' and length ~= tonumber(wanted) then return i end
    if length == 0 then
      if not excuse or c('HEXISTS', excuse, 'filled') == 1 then return i end
    elseif type(length) ~= 'number' or part and not has_four(KEYS[i], part) then
      return i
    elseif wanted == '0' and part and length < tonumber(part:match('^%d+')) then
      return i
    end
  end
end
