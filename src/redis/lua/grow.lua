-- Add elements to a filter that grows, until it has grown; after guard.lua,
-- noting.lua and layers.lua.
-- KEYS: layers, the next layer, hash, cursor.
-- ARGV after the guards: what note() reads; bits at which the newest layer is
-- full; the last bit of the next one; what layers.lua reads.
-- Answers a character an element that was dealt with, 1 for one that was surely
-- new; -i where layer i is gone; nil where the filter is another one.
if changed() then return false end
local noted = a
a = a + (ARGV[a] == '0' and 1 or 3 + ARGV[a + 2])
local full, last = tonumber(ARGV[a]), ARGV[a + 1]
a = a + 2
read_shapes()
for i = 1, layers do
  if c('EXISTS', KEYS[i]) == 0 then return -i end
end
local first = a
a = noted
if not note() then return false end
local newest, next, config, cursor = KEYS[layers], KEYS[layers + 1], KEYS[layers + 2], KEYS[layers + 3]
local shape = shapes == 1 and 1 or layers
local filled = c('BITCOUNT', newest)
-- Set an element's bits in the newest layer; how many of them were not set.
local function set(e)
  local t, n = {'BITFIELD', newest}, 2
  for i = e + at[shape], e + at[shape] + k[shape] - 1 do
    t[n + 1] = 'SET' t[n + 2] = 'u1' t[n + 3] = ARGV[i] t[n + 4] = '1'
    n = n + 4
  end
  local zeros = 0
  for _, bit in ipairs(c(unpack(t))) do zeros = zeros + 1 - bit end
  return zeros
end
local answers, m = {}, 0
for e = first, #ARGV, step do
  local changed = layers > 1 and found(e) and 0 or set(e)
  filled = filled + changed
  m = m + 1
  answers[m] = changed > 0 and '1' or '0'
  if filled >= full then
    local ttl = c('PTTL', config)
    c('DEL', next)
    c('SETBIT', next, last, 0)
    c('SET', cursor, layers)
    c('HSET', config, 'layers', layers + 1)
    if ttl > 0 then
      c('PEXPIRE', next, ttl)
      c('PEXPIRE', cursor, ttl)
    end
    break
  end
end
return table.concat(answers)
