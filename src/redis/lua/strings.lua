-- What follows guard.lua: are a filter's strings still its own?
-- ARGV goes on with the number of the hash that excuses a string that is not there
-- unless it has a field filled (0: nothing does); the number of strings, the first
-- keys; and of each its length (0: any), where it had bits when its witness was
-- written, four words, by the number of each's first bit, and those bits; or an
-- empty one in place of these, where it has no witness.
-- The first string that is gone, cut short or made anew; nil: none is.
local function lost()
  local excuse, strings = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1])
  a = a + 2
  for i = 1, strings do
    local key, length, words = KEYS[i], redis.pcall('STRLEN', KEYS[i]), a + 1
    if ARGV[a] ~= '0' and length ~= tonumber(ARGV[a]) then return i end
    a = a + (ARGV[words] == '' and 2 or 9)
    if length == 0 then
      if not excuse or c('HEXISTS', excuse, 'filled') == 1 then return i end
    elseif type(length) ~= 'number' then
      return i
    elseif ARGV[words] ~= '' then
      local is = c('BITFIELD_RO', key, 'GET', 'u32', ARGV[words], 'GET', 'u32', ARGV[words + 1],
        'GET', 'u32', ARGV[words + 2], 'GET', 'u32', ARGV[words + 3])
      for j = 1, 4 do
        local had = ARGV[words + 3 + j]
        if bit.band(is[j], had) ~= bit.tobit(had) then return i end
      end
    end
  end
end
