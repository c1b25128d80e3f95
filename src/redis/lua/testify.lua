-- What precedes scripts that add: the words of a string by their numbers, eight at most,
-- as a part of a witness has them; if they have twice the bits of the one that is there,
-- and one at least.
local function testimony(key, least, words)
  local part, bits = '', 0
  for i = 1, math.min(#words, 8) do
    local word = redis.call('BITFIELD_RO', key, 'GET', 'u32', '#' .. words[i])[1]
    part = ('%s %s:%.0f'):format(part, words[i], word)
    while word > 0 do
      bits = bits + word % 2
      word = math.floor(word / 2)
    end
  end
  return bits > 0 and bits >= 2 * least and part
end
