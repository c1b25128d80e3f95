-- Precedes other scripts: does a string have the bits that it had?
-- Its part of a witness is its length, or a lower bound of that, and for up to eight
-- words " WORD:BITS", the bits that were set in 32-bit word number WORD of the string;
-- at most `most` words are checked.
local function has(key, part, most)
  local get, bits, n = {'BITFIELD_RO', key}, {}, 2
  for word, set in part:gmatch(' (%d+):(%d+)') do
    if #bits == most then break end
    bits[#bits + 1] = set
    get[n + 1], get[n + 2], get[n + 3] = 'GET', 'u32', '#' .. word
    n = n + 3
  end
  if n == 2 then return true end
  for i, word in ipairs(redis.call(unpack(get))) do
    if bit.band(word, bits[i]) ~= bit.tobit(bits[i]) then return false end
  end
  return true
end
