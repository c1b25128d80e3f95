-- Precedes scripts that add.  testimony() returns words of a string, at most eight,
-- which are given by their numbers, as the text of a witness; or false, if they have
-- fewer than twice as many set bits as the present witness, or none.
local function testimony(key, least, words)
  local part, bits, seen, n = '', 0, {}, 0
  for _, number in ipairs(words) do
    if n < 8 and not seen[number] then
      local word = redis.call('BITFIELD_RO', key, 'GET', 'u32', '#' .. number)[1]
      part, seen[number], n = ('%s %s:%.0f'):format(part, number, word), true, n + 1
      while word > 0 do
        bits = bits + word % 2
        word = math.floor(word / 2)
      end
    end
  end
  return bits > 0 and bits >= 2 * least and part
end
