-- Precedes other scripts: is a filter still the one described?
-- ARGV starts with the number of things that must not have changed.  For each of them,
--   the number of its key and the number of fields of a hash follow.  For a string (0
--   fields) this is followed by its first 20 bytes, with = before them, or nothing if it
--   did not exist; for a hash by the names of the fields, the number, from 1, of the one
--   that is the strings' witness (0: none), and the SHA-1 of their values, each with =
--   before it, or nothing if it did not exist, separated by zero bytes, which described
--   values do not contain.
local c, a, witness = redis.call, 2, ''
local function changed()
  for _ = 1, tonumber(ARGV[1]) do
    local key, n, is = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1])
    a = a + 2
    if n == 0 then
      is = c('GET', key)
      is = is and '=' .. is:sub(1, 20) or ''
    else
      local found = redis.pcall('HMGET', key, unpack(ARGV, a, a + n - 1))
      -- Anything but a hash has no fields; other errors are raised.
      if found.err then found = found.err:find('WRONGTYPE') and {} or c('HMGET', key, ARGV[a]) end
      a = a + n + 1
      witness = found[tonumber(ARGV[a - 1])] or witness
      for i = 1, n do found[i] = found[i] and '=' .. found[i] or '' end
      is = redis.sha1hex(table.concat(found, '\0'))
    end
    if is ~= ARGV[a] then return true end
    a = a + 1
  end
  return false
end
