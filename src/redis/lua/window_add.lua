-- Add elements to the slice of now of a window of time; after guard.lua, noting.lua and
-- window.lua.
-- ARGV after those: what note() reads; number of an element's positions; for each
--   element, these.
-- Returns a digit for each element, 1 if no live lane had all of its bits; 0 if the lanes
--   of this slice are to be cleared before (window_turn.lua); what read_window() returns;
--   nil if the filter has been replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
if turned < now then return 0 end
if not note(KEYS[1]) then return false end
local k, answers, m, band, lane = tonumber(ARGV[a]), {}, 0, bit.band, 31 - now % 32
for e = a + 1, #ARGV, k do
  local lanes = -1
  for j = e, e + k - 1 do
    local word = ARGV[j] % words
    local piece = (ARGV[j] - word) / words
    lanes = band(lanes, live[piece], c('BITFIELD', key[piece], 'GET', 'u32', '#' .. word + 2,
      'SET', 'u1', (word + 2) * 32 + lane, 1)[1])
  end
  m = m + 1
  answers[m] = lanes == 0 and '1' or '0'
end
return table.concat(answers)
