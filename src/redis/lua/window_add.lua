-- Add elements to the slice of now of a window of time; after guard.lua, noting.lua and
-- window.lua.
-- ARGV after those: what note() reads; what window_lookup.lua reads.
-- Returns a digit for each element, 1 if no live lane had all of its bits; 0 if the lanes
--   of this slice are to be cleared before (window_turn.lua); what read_window() returns;
--   nil if the filter has been replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
if turned < now then return 0 end
if not note(KEYS[1]) then return false end
local k, answers, m, band, lane, sets = tonumber(ARGV[a]), {}, 0, bit.band, 31 - now % 32, {}
for i = 1, 7 * k, 7 do sets[i], sets[i + 1], sets[i + 3], sets[i + 4], sets[i + 6] = 'GET', 'u32', 'SET', 'u1', '1' end
local e, last = a + 1, #ARGV
while e <= last do
  local lanes, left = -1, k
  repeat
    local piece, n = ARGV[e], tonumber(ARGV[e + 1])
    for i = 1, n do
      local at = ARGV[e + 1 + i]
      sets[7 * i - 4], sets[7 * i - 1] = at, at + lane
    end
    local words = c('BITFIELD', key[piece], unpack(sets, 1, 7 * n))
    lanes = band(lanes, live[piece])
    for i = 1, 2 * n, 2 do lanes = band(lanes, words[i]) end
    left, e = left - n, e + 2 + n
  until left == 0
  m = m + 1
  answers[m] = lanes == 0 and '1' or '0'
end
return table.concat(answers)
