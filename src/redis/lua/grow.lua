-- Add elements to a filter that grows, until it has grown.
-- KEYS: layers, the next layer, hash, cursor.
-- ARGV: number of layers; bits at which the newest is full; the last bit of the
-- next layer; number of fields of the hash that must be the same, and these with
-- values; number of shapes (1 where layers are alike); k of each shape; then an
-- element's positions in each shape.
-- Answers a character an element that was dealt with, 1 for one that was surely
-- new; nil where the filter is another one.
local c = redis.call
local layers, full, last = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local next, config, cursor = KEYS[layers + 1], KEYS[layers + 2], KEYS[layers + 3]
local a = 5
for i = 1, tonumber(ARGV[4]) do
  if c('HGET', config, ARGV[a]) ~= ARGV[a + 1] then return false end
  a = a + 2
end
if (c('GET', cursor) or '0') ~= tostring(layers - 1) then return false end
for i = 1, layers do
  if c('EXISTS', KEYS[i]) == 0 then return false end
end
local shapes = tonumber(ARGV[a])
a = a + 1
local at, k, step = {}, {}, 0
for i = 1, shapes do
  at[i], k[i] = step, tonumber(ARGV[a])
  step = step + k[i]
  a = a + 1
end
local newest = KEYS[layers]
local filled = c('BITCOUNT', newest)
-- Get or set an element's bits in a layer; how many of them were not set.
local function zeros(command, verb, key, from, count, value)
  local t, n = {command, key}, 2
  for i = from, from + count - 1 do
    t[n + 1] = verb t[n + 2] = 'u1' t[n + 3] = ARGV[i]
    n = n + 3
    if value then n = n + 1 t[n] = value end
  end
  local zero = 0
  for _, bit in ipairs(c(unpack(t))) do zero = zero + 1 - bit end
  return zero
end
local answers, m = {}, 0
for e = a, #ARGV, step do
  local found, changed = false, 0
  if layers > 1 then
    for i = layers, 1, -1 do
      local s = shapes == 1 and 1 or i
      if zeros('BITFIELD_RO', 'GET', KEYS[i], e + at[s], k[s]) == 0 then
        found = true
        break
      end
    end
  end
  if not found then
    changed = zeros('BITFIELD', 'SET', newest, e + at[shapes], k[shapes], '1')
    filled = filled + changed
  end
  m = m + 1
  answers[m] = changed > 0 and '1' or '0'
  if filled >= full then
    local ttl = c('PTTL', config)
    c('DEL', next)
    c('SETBIT', next, last, 0)
    c('SET', cursor, layers)
    if ttl > 0 then
      c('PEXPIRE', next, ttl)
      c('PEXPIRE', cursor, ttl)
    end
    break
  end
end
return table.concat(answers)
