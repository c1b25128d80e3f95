-- Read from a piece of a window of time; after guard.lua and window.lua.
-- ARGV after those: number of bytes of its words.
-- Returns the slice that it is, the one that the piece was last cleared for, these bytes,
--   and the hash's time to live in ms; what read_window() returns; nil if the filter has
--   been replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
for _, at in pairs(cleared) do
  return {now, at, c('GETRANGE', KEYS[1], 24, 23 + ARGV[a]), c('PTTL', hash)}
end
