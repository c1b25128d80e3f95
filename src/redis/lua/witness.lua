-- Precedes other scripts: does a string have the bits that it had?
-- Its part of a witness is its length, or a lower bound of that, and for up to eight
-- words " WORD:BITS", the bits that were set in 32-bit word number WORD of the string.
local function has(key, part)
  local get, bits, n = {'BITFIELD_RO', key}, {}, 2
  for word, set in part:gmatch(' (%d+):(%d+)') do
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
-- The first four words alone, which are looked at with every answer: no tables are made.
local function has_four(key, part)
  local w1, b1, w2, b2, w3, b3, w4, b4 = part:match(' (%d+):(%d+) (%d+):(%d+) (%d+):(%d+) (%d+):(%d+)')
  if not w1 then return has(key, part) end
  local word = redis.call('BITFIELD_RO', key, 'GET', 'u32', '#' .. w1, 'GET', 'u32', '#' .. w2,
    'GET', 'u32', '#' .. w3, 'GET', 'u32', '#' .. w4)
  local band, tobit = bit.band, bit.tobit
  return band(word[1], b1) == tobit(b1) and band(word[2], b2) == tobit(b2)
    and band(word[3], b3) == tobit(b3) and band(word[4], b4) == tobit(b4)
end
