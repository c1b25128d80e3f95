-- Clear the lanes of a piece of a window of time that are due for another use, up to that
-- of the slice of now; after guard.lua and window.lua.
-- KEYS: the piece; the hash; a temporary name.
-- ARGV after those: '', or if all other pieces have been turned, the slice of the one
--   that was turned first.
-- Returns the slice that it is; what read_window() returns; nil if the filter has been
--   replaced.
if changed() then return false end
local gone = read_window()
if gone then return gone end
local at
for _, is in pairs(cleared) do at = is end
if at < now then
  local due = math.min(now - at, 32)
  local kept = bit.bnot(bit.rol(2 ^ due - 1, (at + 1) % 32)) % 2 ^ 32
  -- Of 20 kB, as Lua takes ten times as long as Redis to make a long string.
  local mask, left = struct.pack('>I4', kept):rep(5000), c('STRLEN', KEYS[1]) - 24
  c('SET', KEYS[3], ('\255'):rep(24), 'PX', 60000)
  while left > 0 do
    c('APPEND', KEYS[3], left < #mask and mask:sub(1, left) or mask)
    left = left - #mask
  end
  c('BITOP', 'AND', KEYS[1], KEYS[1], KEYS[3])
  c('DEL', KEYS[3])
  c('BITFIELD', KEYS[1], 'SET', 'i64', 0, now)
end
c('HSET', hash, 'newest', ('%.0f'):format(now))
if ARGV[a] ~= '' then
  c('HSET', hash, 'turned', ('%.0f'):format(math.max(turned, math.min(ARGV[a], now))))
end
local ends = ('%.0f'):format((now + slices + 2) * length)
c('PEXPIREAT', KEYS[1], ends)
c('PEXPIREAT', hash, ends)
return now
