-- Look elements up in a window of time; after guard.lua and window.lua.
-- ARGV after those: number of an element's positions; for each element, these.
-- Returns a digit for each element, 1 if one live lane has all of its bits; what
--   read_window() returns; nil if the filter has been replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
local k, answers, m, band = tonumber(ARGV[a]), {}, 0, bit.band
for e = a + 1, #ARGV, k do
  local lanes = -1
  for j = e, e + k - 1 do
    local word = ARGV[j] % words
    local piece = (ARGV[j] - word) / words
    lanes = band(lanes, live[piece], c('BITFIELD_RO', key[piece], 'GET', 'u32', '#' .. word + 2)[1])
    if lanes == 0 then break end
  end
  m = m + 1
  answers[m] = lanes == 0 and '0' or '1'
end
return table.concat(answers)
