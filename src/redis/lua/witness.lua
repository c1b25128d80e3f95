-- What describe.lua begins with: whether strings have the bits that they had.
-- A witness is a part for each string, with semicolons between: its length, or the
-- least, and of up to eight words " BYTE:BITS", which were set in the 32 bits from that
-- byte on.
local function has(key, part)
  local get, bits = {'BITFIELD_RO', key}, {}
  for byte, set in part:gmatch(' (%d+):(%d+)') do
    bits[#bits + 1] = set
    for _, word in ipairs({'GET', 'u32', byte * 8}) do get[#get + 1] = word end
  end
  if redis.call('STRLEN', key) < tonumber(part:match('^%d+') or 0) then return false end
  for i, word in ipairs(#bits > 0 and redis.call(unpack(get)) or {}) do
    if bit.band(word, bits[i]) ~= bit.tobit(bits[i]) then return false end
  end
  return true
end
-- The number of the first string, of those with these keys, that has them not; or 0.
local function disproved(witness, keys)
  local i = 0
  for part in witness:gmatch('[^;]+') do
    i = i + 1
    if not keys[i] then break end
    local done, proved = pcall(has, keys[i], part)
    if not (done and proved) then return i end
  end
  return 0
end
