-- What follows witness.lua and guard.lua: are a filter's strings still its own?
-- ARGV goes on with the number of the hash that excuses a string that is not there
-- unless it has a field filled (0: nothing does); the number of strings, the first
-- keys; and of each its length (0: any).
-- The first string that is gone, cut short or made anew, as far as four words of its
-- witness say; nil: none is.
local function lost()
  local excuse, strings, parts = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1]), witness:gmatch('[^;]+')
  a = a + 2 + strings
  for i = 1, strings do
    local length, wanted, part = redis.pcall('STRLEN', KEYS[i]), ARGV[a - strings + i - 1], parts()
    if wanted ~= '0' and length ~= tonumber(wanted) then return i end
    if length == 0 then
      if not excuse or c('HEXISTS', excuse, 'filled') == 1 then return i end
    elseif type(length) ~= 'number' or part and not has(KEYS[i], part, 4) then
      return i
    end
  end
end
