-- Precedes scripts that add: words of a string by their numbers, at most eight
-- different ones, as text of a witness; false unless they have at least twice the bits
-- of the present witness, and at least one.
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
