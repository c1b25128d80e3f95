-- What precedes other scripts: is a filter still what it was described as?
-- ARGV starts with the number of things that must not have changed; then, of each, the
-- number of its key and how many fields of a hash it is about.  Of a string (0 fields)
-- its value follows, with = before it, or nothing where there is none.  Of a hash the
-- fields' names; which of them, counted from 1, is the strings' witness (0: none); and
-- the SHA-1 of their values, each as that of a string, with zero bytes between, which
-- what was described has not.
local c, a, witness = redis.call, 2, ''
local function changed()
  for _ = 1, tonumber(ARGV[1]) do
    local key, n, is = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1])
    a = a + 2
    if n == 0 then
      is = c('GET', key)
      is = is and '=' .. is or ''
    else
      local found = redis.pcall('HMGET', key, unpack(ARGV, a, a + n - 1))
      -- What is no hash has no fields; other errors are raised.
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
