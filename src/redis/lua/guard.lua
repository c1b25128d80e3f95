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
-- Note in a hash what the first elements decide.  ARGV: the number of its key (0:
-- nothing is to be noted), 1 if it is made anew, number of fields and values, and
-- these.  A hash that is made anew expires with a key.  False where it says
-- something else already.
local function note(like)
  local key = KEYS[tonumber(ARGV[a])]
  a = a + 1
  if not key then return true end
  local anew, n, from = ARGV[a] == '1', tonumber(ARGV[a + 1]), a + 2
  a = from + n
  for i = from, a - 2, 2 do
    local is = not anew and c('HGET', key, ARGV[i]) or ''
    if is ~= '' and is ~= ARGV[i + 1] then return false end
  end
  if anew then c('DEL', key) end
  c('HSET', key, unpack(ARGV, from, a - 1))
  local ttl = anew and c('PTTL', like) or 0
  if ttl > 0 then c('PEXPIRE', key, ttl) end
  return true
end
