-- Add elements to a filter that grows, until it has grown; after guard.lua,
-- strings.lua, noting.lua, layers.lua, testify.lua and others.lua.
-- KEYS: layers, the next layer, hash, cursor.
-- ARGV after the guards: what lost() reads; what note() reads; number of set bits at
--   which the newest layer is full; the last bit of the next one, or '' if there can be
--   none; the witness, in three parts: those of older layers, length of the newest one,
--   and its words, or ''; number of bits in these words if they are to be rewritten, or
--   ''; what layers.lua reads.
-- Returns a digit for each element that was processed, 1 if it was certainly new; -i
--   if layer i is lost; 0 if the filter has to grow but there can be no next layer, or its
--   key is somebody else's; nil if the filter has been replaced.
--
-- A layer gets a witness with its first element, and a better one with some later
-- elements.  When it is full, its witness is made again, from the element added last.
if changed() then return false end
local gone = lost()
if gone then return -gone end
local noted = a
a = a + (ARGV[a] == '0' and 1 or 3 + ARGV[a + 2])
local full, last = tonumber(ARGV[a]), ARGV[a + 1]
local older, length, words, has = ARGV[a + 2], ARGV[a + 3], ARGV[a + 4], tonumber(ARGV[a + 5])
a = a + 6
read_shapes()
local first = a
a = noted
if not note() then return false end
local newest, next, config, cursor = KEYS[layers], KEYS[layers + 1], KEYS[layers + 2], KEYS[layers + 3]
local shape = shapes == 1 and 1 or layers
local filled = c('BITCOUNT', newest)
-- Set the bits of an element in its block of the newest layer; returns how many were not set.
local function set_block(from)
  local bytes, bits, t, zeros = block_at(newest, ARGV[from]), ARGV[from + 1], {}, 0
  for i = 1, block, 4 do
    local was, wanted = unpacked('<i4', bytes, i), unpacked('<i4', bits, i)
    if band(was, wanted) ~= wanted then zeros = zeros + 1 end
    t[#t + 1] = struct.pack('<i4', bit.bor(was, wanted))
  end
  c('SETRANGE', newest, ARGV[from], table.concat(t))
  return zeros
end
-- Set the bits of an element in the newest layer; returns how many were not set.
local function set(e)
  if block > 0 then return set_block(e + at[shape]) end
  local t, n = {'BITFIELD', newest}, 2
  for i = e + at[shape], e + at[shape] + k[shape] - 1 do
    t[n + 1] = 'SET' t[n + 2] = 'u1' t[n + 3] = ARGV[i] t[n + 4] = '1'
    n = n + 4
  end
  local zeros = 0
  for _, bit in ipairs(c(unpack(t))) do zeros = zeros + 1 - bit end
  return zeros
end
-- Write the witness; that of the newest layer with the words that contain the bits of
-- element e, as they are now, if these are better than its present ones.
local function testify(e, least, next_length)
  local numbers = {}
  for i = 0, e and k[shape] - 1 or -1 do
    local from = e + at[shape]
    numbers[i + 1] = ('%.0f'):format(block > 0 and ARGV[from] / 4 + i or math.floor(ARGV[from + i] / 32))
  end
  local better = testimony(newest, least, numbers)
  if not better and not next_length then return end
  words = better or words
  c('HSET', config, 'witness', older .. length .. words .. (next_length and ';' .. next_length or ''))
end
local answers, m, own = {}, 0
for e = first, #ARGV, step do
  local changed, ends = 0, last == '' and filled >= full
  if layers == 1 and not ends or not found(e) then
    if ends then break end
    changed, own = set(e), e
  end
  filled = filled + changed
  m = m + 1
  answers[m] = changed > 0 and '1' or '0'
  if last ~= '' and filled >= full then
    local ttl = c('PTTL', config)
    if c('EXISTS', next) == 1 or is_others(next) then return 0 end
    c('SETBIT', next, last, 0)
    c('SET', cursor, layers)
    c('HSET', config, 'layers', layers + 1)
    testify(own, 0, ('%.0f'):format((last + 1) / 8))
    if ttl > 0 then
      c('PEXPIRE', next, ttl)
      c('PEXPIRE', cursor, ttl)
    end
    has = nil
    break
  end
end
if m == 0 then return 0 end
if own and has then testify(own, has) end
return table.concat(answers)
