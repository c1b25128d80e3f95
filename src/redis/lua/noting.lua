-- Precedes scripts that add, after guard.lua: note in a hash what the first elements
-- decide.
-- ARGV goes on with the number of the hash's key (0: nothing is to be noted), 1 if the
--   hash is created, the number of fields and values, and these.  A hash that is
--   created expires with the key `like`; one that already has these values is left
--   alone.  note() returns false if the hash has other values.
local function note(like)
  local key = KEYS[tonumber(ARGV[a])]
  a = a + 1
  if not key then return true end
  local created, n, from = ARGV[a] == '1', tonumber(ARGV[a + 1]), a + 2
  local said = not created
  a = from + n
  for i = from, a - 2, 2 do
    local is = not created and c('HGET', key, ARGV[i]) or ''
    if is ~= '' and is ~= ARGV[i + 1] then return false end
    said = said and is == ARGV[i + 1]
  end
  if said then return true end
  if created then c('DEL', key) end
  c('HSET', key, unpack(ARGV, from, a - 1))
  local ttl = created and c('PTTL', like) or 0
  if ttl > 0 then c('PEXPIRE', key, ttl) end
  return true
end
