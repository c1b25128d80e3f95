-- What precedes other scripts: is a filter still what it was described as?
-- ARGV starts with the number of things that must not have changed; then, of
-- each, the number of its key and how many fields of a hash it is about (0: it
-- is a string), their names, and the values: with = before them, or nothing
-- where there is none.
local c, a = redis.call, 2
local function changed()
  for _ = 1, tonumber(ARGV[1]) do
    local key, n, found = KEYS[tonumber(ARGV[a])], tonumber(ARGV[a + 1])
    a = a + 2 + n
    if n > 0 then
      found = c('HMGET', key, unpack(ARGV, a - n, a - 1))
    else
      found, n = {c('GET', key)}, 1
    end
    for i = 1, n do
      if ARGV[a] ~= (found[i] and '=' .. found[i] or '') then return true end
      a = a + 1
    end
  end
  return false
end
