-- Look elements up in a window of time; after guard.lua and window.lua.
-- ARGV after those: number of an element's words; for each element, these, in runs: the
--   number of a piece, that of the words there, and the bits at which they start.
-- Returns a digit for each element, 1 if one live lane has all of its bits; what
--   read_window() returns; nil if the filter has been replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
local k, answers, m, band, gets = tonumber(ARGV[a]), {}, 0, bit.band, {}
for i = 1, 3 * k, 3 do gets[i], gets[i + 1] = 'GET', 'u32' end
local e, last = a + 1, #ARGV
while e <= last do
  local lanes, left = -1, k
  repeat
    local piece, n = ARGV[e], tonumber(ARGV[e + 1])
    if lanes ~= 0 then
      for i = 1, n do gets[3 * i] = ARGV[e + 1 + i] end
      lanes = band(lanes, live[piece], unpack(c('BITFIELD_RO', key[piece], unpack(gets, 1, 3 * n))))
    end
    left, e = left - n, e + 2 + n
  until left == 0
  m = m + 1
  answers[m] = lanes == 0 and '0' or '1'
end
return table.concat(answers)
