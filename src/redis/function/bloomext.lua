#!lua name=bloomext
-- bloomext.lua
--   Ask Bloom filters that bloomext, PostgreSQL's extension, or Guava wrote,
--   without hashing anything in the client.
--
-- In Redis 7 and later, and Valkey, an administrator runs this on every master:
--   redis-cli -x FUNCTION LOAD REPLACE <bloomext.lua
-- Redis 6.2 takes the file without its first line, and returns its SHA1:
--   tail -n +2 bloomext.lua | redis-cli -x SCRIPT LOAD
--
--   FCALL_RO bloomext_contains 1 KEY element...
--   FCALL_RO bloomext_contains_uuid 1 KEY uuid...
--   FCALL_RO bloomext_contains_as 1 KEY kind element...
--   EVALSHA sha1 1 KEY bloomext_contains element...     and so on
--
-- Returns an integer for each element: 0 if it is certainly not there; 1 if it is there
-- or a false positive.  If one has no answer, that is an error for all, never 0.
--
-- Filters are those of strategies guava and guava32 in layouts guava, bitmap, growing
-- and window, and of parquet in bitmap, window and, with expansion 1, in growing.  The
-- hash next to the filter records the kind of its elements:
--   utf8, utf16   text, here always in UTF-8
--   int, long     decimals as SQL prints them: 42, -7
--   bytes         bytes; a uuid is 16 of them
-- If it does not, as for a filter made by a service, pass it to bloomext_contains_as.
--
-- Strings must still have the bits of the witness in the hash.  A string in layout guava
-- may have been replaced or renamed without its hash: if it lacks those bits, the hash is
-- about another string.  If it has them, but the hash was not written together with the
-- string, or the bits are too few to prove its identity, elements passed without a kind
-- are looked up as both int and long, or both utf8 and utf16; and in either case texts
-- with and without blanks at their ends.
--
-- A shard is a filter, at its own key KEY:NUMBER.  Its hash records the number: at
-- another key, it is an error.
--
-- Keys read: KEY, {KEY}:bloomext and {KEY}:bloomext-shards (without the braces
-- if KEY has one), KEY-config; of a growing filter also KEY-cursor, KEY-0,
-- KEY-1, ...; of a window {KEY}:bloomext-window-ID-0, ...  An account needs the
-- right to read them and, for a window, to ask for the TIME.  They may follow KEY in
-- the call, which does not change the result.
--
-- Numbers are doubles, exact up to 2^53.  So 64 bits are two halves, high and
-- low, and are multiplied by 16 bits at a time.

-- Redis serves no other client during a call.
local MAX_ELEMENTS = 1000
local MAX_BYTES = 2^19         -- of all of them

local MAX_BITS = 2^32          -- of a string of 512 MB
local MAX_LAYERS = 1024
local MAX_SLICES = 30          -- of a window of time
local PIECE_WORDS = 500000     -- of a window; the last piece has fewer

-- While it loads a library, Redis 7.0 has no globals: a call fetches them.
local bxor, call, unpack_bytes

-- Raise an error.
local function refuse(...)
  error('ERR bloomext: ' .. string.format(...), 0)
end

---- MurmurHash3 x64 128 ----

-- The product with a constant of four times 16 bits, the highest first.
local function multiply(c3, c2, c1, c0, high, low)
  local middle = low * c1
  local tail = middle % 65536
  local sum = low * c0 + tail * 65536
  local product = sum % 2^32
  return ((high * c1 + low * c3) % 65536 * 65536 + high * c0 + low * c2
    + (middle - tail) / 65536 + (sum - product) / 2^32) % 2^32, product
end

local function add(high, low, more_high, more_low)
  local sum = low + more_low
  if sum >= 2^32 then sum, high = sum - 2^32, high + 1 end
  return (high + more_high) % 2^32, sum
end

-- Rotated left; times is two to the power of less than 32.
local function rotate(times, high, low)
  high, low = high * times, low * times
  local kept_high, kept_low = high % 2^32, low % 2^32
  return kept_high + (low - kept_low) / 2^32, kept_low + (high - kept_high) / 2^32
end

local function xor(high, low, other_high, other_low)
  return bxor(high, other_high) % 2^32, bxor(low, other_low) % 2^32
end

-- Its exclusive or with itself shifted right by 33.
local function fold(high, low)
  return high, bxor(low, high / 2 - high % 2 / 2) % 2^32
end

-- The final mix of a half of the hash, fmix64.
local function finish(high, low)
  high, low = multiply(0xff51, 0xafd7, 0xed55, 0x8ccd, fold(high, low))
  return fold(multiply(0xc4ce, 0xb9fe, 0x1a85, 0xec53, fold(high, low)))
end

-- h1 and h2.  The last block, of less than 16 bytes, is padded with zeros.
local function hash(bytes)
  local length = #bytes
  local padded = bytes .. ('\0'):rep(16 - length % 16)
  local high1, low1, high2, low2 = 0, 0, 0, 0
  for at = 1, length + 1, 16 do
    local whole = at + 15 <= length
    local k1, high_k1, k2, high_k2 = unpack_bytes('<I4I4I4I4', padded, at)
    high_k1, k1 = rotate(2^31, multiply(0x87c3, 0x7b91, 0x1142, 0x53d5, high_k1, k1))
    high1, low1 = xor(high1, low1, multiply(0x4cf5, 0xad43, 0x2745, 0x937f, high_k1, k1))
    if whole then
      high1, low1 = add(high2, low2, rotate(2^27, high1, low1))
      high1, low1 = add(0, 0x52dce729, multiply(0, 0, 0, 5, high1, low1))
    end
    -- Rotating by 33 is rotating the halves, exchanged, by 1.
    k2, high_k2 = multiply(0x4cf5, 0xad43, 0x2745, 0x937f, high_k2, k2)
    high_k2, k2 = rotate(2, high_k2, k2)
    high2, low2 = xor(high2, low2, multiply(0x87c3, 0x7b91, 0x1142, 0x53d5, high_k2, k2))
    if whole then
      high2, low2 = add(high1, low1, rotate(2^31, high2, low2))
      high2, low2 = add(0, 0x38495ab5, multiply(0, 0, 0, 5, high2, low2))
    end
  end
  high1, low1 = add(high2, bxor(low2, length) % 2^32, high1, bxor(low1, length) % 2^32)
  high2, low2 = add(high1, low1, high2, bxor(low2, length) % 2^32)
  high1, low1 = finish(high1, low1)
  high2, low2 = finish(high2, low2)
  high1, low1 = add(high1, low1, high2, low2)
  return high1, low1, add(high1, low1, high2, low2)
end

---- XXH64 ----

-- A lane, or a word of zero, with another word taken into it.
local function take(lane_high, lane_low, high, low)
  high, low = add(lane_high, lane_low, multiply(0xc2b2, 0xae3d, 0x27d4, 0xeb4f, high, low))
  return multiply(0x9e37, 0x79b1, 0x85eb, 0xca87, rotate(2^31, high, low))
end

-- After eight bytes, or a lane: times P1, plus P4.
local function step(high, low)
  high, low = multiply(0x9e37, 0x79b1, 0x85eb, 0xca87, high, low)
  return add(high, low, 0x85ebca77, 0xc2b2ae63)
end

-- One word of four lanes of all 32 bytes; and where the rest begins.
local function take_stripes(bytes)
  local lanes = {{0x60ea27ee, 0xadc0b5d6}, {0xc2b2ae3d, 0x27d4eb4f}, {0, 0}, {0x61c8864e, 0x7a143579}}
  local at, high, low = 1, 0, 0
  while at + 31 <= #bytes do
    for i, lane in ipairs(lanes) do
      local word, high_word = unpack_bytes('<I4I4', bytes, at + 8 * i - 8)
      lane[1], lane[2] = take(lane[1], lane[2], high_word, word)
    end
    at = at + 32
  end
  for i, times in ipairs({2, 2^7, 2^12, 2^18}) do
    high, low = add(high, low, rotate(times, lanes[i][1], lanes[i][2]))
  end
  for _, lane in ipairs(lanes) do
    high, low = step(xor(high, low, take(0, 0, lane[1], lane[2])))
  end
  return high, low, at
end

local function xxh64(bytes)
  local high, low, at = 0x27d4eb2f, 0x165667c5, 1
  if #bytes >= 32 then high, low, at = take_stripes(bytes) end
  high, low = add(high, low, 0, #bytes)
  while at + 7 <= #bytes do
    local word, high_word = unpack_bytes('<I4I4', bytes, at)
    high, low = step(rotate(2^27, xor(high, low, take(0, 0, high_word, word))))
    at = at + 8
  end
  if at + 3 <= #bytes then
    high, low = xor(high, low, multiply(0x9e37, 0x79b1, 0x85eb, 0xca87, 0, (unpack_bytes('<I4', bytes, at))))
    high, low = multiply(0xc2b2, 0xae3d, 0x27d4, 0xeb4f, rotate(2^23, high, low))
    high, low = add(high, low, 0x165667b1, 0x9e3779f9)
    at = at + 4
  end
  for i = at, #bytes do
    high, low = xor(high, low, multiply(0x27d4, 0xeb2f, 0x1656, 0x67c5, 0, bytes:byte(i)))
    high, low = multiply(0x9e37, 0x79b1, 0x85eb, 0xca87, rotate(2^11, high, low))
  end
  high, low = multiply(0xc2b2, 0xae3d, 0x27d4, 0xeb4f, fold(high, low))
  -- The exclusive or with itself shifted right by 29, then by 32.
  high, low = xor(high, low, math.floor(high / 2^29), high * 8 % 2^32 + math.floor(low / 2^29))
  high, low = multiply(0x1656, 0x67b1, 0x9e37, 0x79f9, high, low)
  return high, bxor(low, high) % 2^32
end

---- Positions: of a hash in m bits, as a function that returns one after another ----

-- A number of 63 bits, or 2^63, modulo m.
local function modulo(high, low, m)
  local tail = low % 65536
  return ((high * 65536 + (low - tail) / 65536) % m * 65536 + tail) % m
end

local positions = {}

-- (h1 + i * h2) mod 2^63 mod m.  The sum is kept together with its remainder modulo m:
-- when the sum loses 2^63, the remainder loses that of 2^63.
function positions.guava(m, high, low, step_high, step_low)
  high, step_high = high % 2^31, step_high % 2^31
  local position, step, lost = modulo(high, low, m), modulo(step_high, step_low, m), modulo(2^31, 0, m)
  return function()
    local this = position
    position, low, high = position + step, low + step_low, high + step_high
    if low >= 2^32 then low, high = low - 2^32, high + 1 end
    if high >= 2^31 then high, position = high - 2^31, position - lost end
    position = position % m
    return this
  end
end

-- The halves of h1: low + i * high mod 2^32, complemented where that is negative.
function positions.guava32(m, high, low)
  return function()
    low = (low + high) % 2^32
    return (low < 2^31 and low or 2^32 - 1 - low) % m
  end
end

local SALTS = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

-- A block of 256 bits by the high half, and a bit of each of its words by the low one.
function positions.parquet(m, high, low)
  local blocks, word = m / 256, 0
  local tail = high % 65536
  local block = math.floor(((high - tail) / 65536 * blocks + math.floor(tail * blocks / 65536)) / 65536)
  return function()
    word = word + 1
    local salt, low_tail = SALTS[word], low % 65536
    local product = low_tail * salt + (low - low_tail) / 65536 * (salt % 65536) % 65536 * 65536
    return block * 256 + word * 32 - 32 + math.floor(product % 2^32 / 2^27)
  end
end

local HASHES = {guava = hash, guava32 = hash, parquet = xxh64}

---- Elements: their bytes by kind, or nil ----

-- Well-formed UTF-8 beyond ASCII, by lead bytes, the frequent ones first.
local SEQUENCES = {
  '[\225-\236\238\239][\128-\191][\128-\191]', '[\194-\223][\128-\191]',
  '\224[\160-\191][\128-\191]', '\237[\128-\159][\128-\191]',
  '\240[\144-\191][\128-\191][\128-\191]', '[\241-\243][\128-\191][\128-\191][\128-\191]',
  '\244[\128-\143][\128-\191][\128-\191]'
}
local LEADS = {0, 192, 224, 240}

local function is_ascii(text)
  return not text:find('[\128-\255]')
end

-- A character of UTF-8 in UTF-16.
local function utf16_units(character)
  local code = character:byte() - LEADS[#character]
  for i = 2, #character do code = code * 64 + character:byte(i) - 128 end
  if code < 65536 then return struct.pack('<I2', code) end
  return struct.pack('<I2I2', 0xd800 + math.floor((code - 65536) / 1024), 0xdc00 + code % 1024)
end

-- The halves of an integer of 64 bits, as SQL prints it.
local function integer(text)
  local sign, digits = text:match('^(%-?)([1-9]%d*)$')
  digits = text == '0' and text or digits
  if not digits or #digits > 19 then return nil end
  local billions, rest = tonumber(digits:sub(1, -10)) or 0, tonumber(digits:sub(-9))
  local high, low = multiply(0, 0, 0x3b9a, 0xca00, math.floor(billions / 2^32), billions % 2^32)
  high, low = add(high, low, 0, rest)
  if sign == '-' then high, low = add(2^32 - 1 - high, 2^32 - 1 - low, 0, 1) end
  if (high >= 2^31) == (sign == '-') then return high, low end
end

local bytes_of = {}

function bytes_of.bytes(element) return element end

function bytes_of.utf8(text)
  local rest = text
  for _, sequence in ipairs(SEQUENCES) do
    if is_ascii(rest) then break end
    rest = rest:gsub(sequence, '?')
  end
  return is_ascii(rest) and text or nil
end

function bytes_of.utf16(text)
  if is_ascii(text) then return (text:gsub('.', '%0\0')) end
  return bytes_of.utf8(text) and (text:gsub('[%z\1-\127\194-\244][\128-\191]*', utf16_units))
end

function bytes_of.long(text)
  local high, low = integer(text)
  return high and struct.pack('<I4I4', low, high)
end

-- A filter of ints holds no longer integers; these are looked up as long, as in SQL.
-- Parquet's may be unsigned.
function bytes_of.int(text, strategy)
  local high, low = integer(text)
  local short = high == 0 and (low < 2^31 or strategy == 'parquet') or high == 2^32 - 1 and low >= 2^31
  return short and struct.pack('<I4', low) or bytes_of.long(text)
end

function bytes_of.uuid(text)
  local digits = text:gsub('%-', '')
  if #digits ~= 32 or digits:find('%X') then return nil end
  return (digits:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end))
end

-- The other kind to look elements up as if a hash may be about another filter.
local OTHER_KIND = {utf8 = 'utf16', utf16 = 'utf8', int = 'long', long = 'int'}

---- The filter at a key ----

-- Some fields of a hash, as far as it has them.  Anything but a hash, or a key in
-- another slot of a cluster, belongs to no filter at the key.
local function read_hash(key, ...)
  local values, fields = redis.pcall('HMGET', key, ...), {}
  local why = values.err
  if why and not (why:find('WRONGTYPE') or why:find('non local key') or why:find('same slot')) then
    error(why, 0)
  end
  for i, name in ipairs({...}) do fields[name] = not why and values[i] or nil end
  return fields
end

-- A number of a hash, or of a cursor.
local function number(text, least, most, what)
  local value = text and #text < 16 and (text == '0' or text:find('^[1-9]%d*$')) and tonumber(text)
  if not value or value < least or value > most then
    refuse('%s of the filter is not a number from %d to %d', what, least, most)
  end
  return value
end

-- The parts of a witness, one for each string, each its length and " WORD:BITS" of
-- words of 32 bits.
local function parts_of(witness)
  local parts = {}
  for part in (witness or ''):gmatch('[^;]+') do parts[#parts + 1] = part end
  return parts
end

-- Whether a string has the bits of its part of a witness.
local function has_bits(key, part)
  for number, bits in (part or ''):gmatch(' (%d+):(%d+)') do
    local word = call('GETRANGE', key, number * 4, number * 4 + 3) .. '\0\0\0\0'
    if bit.band(unpack_bytes('>I4', word), bits) ~= bit.tobit(bits) then return false end
  end
  return true
end

-- Whether the first four words of a witness have 24 bits, enough that no other string
-- has all of them by chance.
local function is_strong(part)
  local words, bits = 0, 0
  for word in (part or ''):gmatch(':(%d+)') do
    words = words + 1
    for i = 0, words > 4 and -1 or 31 do bits = bits + math.floor(word / 2^i) % 2 end
  end
  return bits >= 24
end

-- A layer, whose string must have its full length and the bits of its witness.
local function make_layer(key, strategy, bits, hashes, part)
  local length = call('STRLEN', key)
  if length ~= math.ceil(bits / 8) then
    refuse('key "%s" has %d bytes, not the %d of its filter', key, length, math.ceil(bits / 8))
  end
  if not has_bits(key, part) then refuse('key "%s" has lost bits of its filter', key) end
  return {key = key, strategy = strategy, bits = bits, hashes = hashes}
end

-- A shard was renamed if its hash does not record the number that its key ends with.
local function check_number(key, whole)
  local recorded = (whole or ''):match('/(%d+)$')
  if recorded and key:match(':(%d+)$') ~= recorded then
    refuse('the filter at "%s" is shard %s of another one', key, recorded)
  end
end

-- Strategy, bits and hashes, from a hash.
local function read_shape(fields)
  if not positions[fields.strategy or ''] then
    refuse('strategy "%s" is neither guava, guava32 nor parquet', fields.strategy or '')
  end
  local strategy, bits, hashes = fields.strategy, number(fields.bits, 1, MAX_BITS, 'bits'), number(fields.hashes, 1, 255, 'hashes')
  if strategy == 'parquet' and (hashes ~= #SALTS or bits % 256 ~= 0) then
    refuse('filter of strategy parquet with %d hashes and %d bits', hashes, bits)
  end
  return strategy, bits, hashes
end

-- Layout guava, the bytes of writeTo; the hash counts if it is about this string.
local function read_guava(key, note)
  local head, length = call('GETRANGE', key, 0, 5), call('STRLEN', key)
  local ordinal, hashes, words = 2, 0, 0
  if #head == 6 then ordinal, hashes, words = unpack_bytes('>BBI4', head) end
  if ordinal > 1 or hashes == 0 or words == 0 or length ~= 6 + 8 * words or 64 * words > MAX_BITS then
    refuse('the string at "%s" is neither Guava\'s nor described by a hash', key)
  end
  local strategy, bits = ordinal == 1 and 'guava' or 'guava32', 64 * words
  local part = parts_of(note.witness)[1]
  local proven = note.mirrored and is_strong(part)
  local fits = note.layout == 'guava' and note.strategy == strategy and
    note.bits == tostring(bits) and note.hashes == tostring(hashes) and has_bits(key, part)
  if fits then check_number(key, note.whole) end
  return {{key = key, strategy = strategy, bits = bits, hashes = hashes, stream = true}},
    fits and note.funnel or nil, not (fits and proven)
end

-- How large Guava makes a layer.
local function size_layer(expected, fpp)
  local bits = math.floor(-expected * math.log(fpp) / (math.log(2) * math.log(2)))
  return math.ceil(bits / 64) * 64, math.max(1, math.floor(bits / expected * math.log(2) + 0.5))
end

-- Layout growing: layers of one size, or each for more elements at half the fpp.
local function read_growing(key, fields)
  local strategy, bits, hashes = read_shape(fields)
  check_number(key, fields.whole)
  local expansion = number(fields.expansion, 1, 32768, 'expansion')
  local least = number(fields.layers or '1', 1, MAX_LAYERS, 'layers')
  local cursor = call('GET', key .. '-cursor')
  if not cursor and (fields.layers or call('EXISTS', key .. '-1') == 1) then
    refuse('key "%s-cursor" is missing', key)
  end
  if strategy == 'parquet' and expansion > 1 then
    refuse('filter of strategy parquet with expansion %d', expansion)
  end
  local layers, parts = {}, parts_of(fields.witness)
  for i = 0, number(cursor or '0', least - 1, MAX_LAYERS - 1, 'cursor') do
    if i > 0 and expansion > 1 then
      local expected = math.max(1, number(fields.expected, 0, 2^53, 'expected'))
      bits, hashes = size_layer(expected * expansion^i, (tonumber(fields.fpp) or 0) * 0.5^(i + 1))
    end
    layers[i + 1] = make_layer(key .. '-' .. i, strategy, bits, hashes, parts[i + 1])
  end
  return layers, fields.funnel
end

-- The key of a hash or piece of bloomext's own.
local function own_key(key, suffix)
  return (key:find('{', 1, true) and key or '{' .. key .. '}') .. suffix
end

-- The words of a piece of a window, as a function of their numbers: bits of slices that
-- are over are masked.  A piece must be of the window with this id, and must have been
-- cleared for a slice from turned to newest.
local function read_piece(key, words, id, slices, now, turned, newest)
  local length = call('STRLEN', key)
  if length ~= 24 + 4 * words then
    refuse('key "%s" has %d bytes, not the %d of its filter', key, length, 24 + 4 * words)
  end
  local high, low, of = unpack_bytes('>I4I4c16', call('GETRANGE', key, 0, 23))
  local at = high * 2^32 + low
  if of ~= id or at < turned or at > newest then refuse('key "%s" is not of its filter', key) end
  local oldest = math.max(now - slices - 1, at - 31)
  local live = bit.rol(2^math.max(at - oldest + 1, 0) - 1, oldest % 32)
  return function(number)
    return bit.band(live, (unpack_bytes('>I4', call('GETRANGE', key, 24 + number * 4, 27 + number * 4))))
  end
end

-- Layout window: at each position a word, with a bit for each slice of time.
local function read_window(key, fields)
  local strategy, bits, hashes = read_shape(fields)
  local slice, slices = number(fields.slice, 1000, 2^53, 'slice'), number(fields.slices, 1, MAX_SLICES, 'slices')
  local newest, time, pieces = number(fields.newest, 0, 2^53, 'newest'), call('TIME'), {}
  local turned = number(fields.turned, 0, newest, 'turned')
  local now = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / slice)
  if newest > now + 1 then refuse('the clock is behind the newest slice of the window at "%s"', key) end
  now = math.max(now, newest)
  local function word(position)
    local number = position % PIECE_WORDS
    local first = position - number
    pieces[first] = pieces[first] or
      read_piece(own_key(key, (':bloomext-window-%s-%d'):format(fields.id or '', first / PIECE_WORDS)),
        math.min(bits - first, PIECE_WORDS), fields.id, slices, now, turned, newest)
    return pieces[first](number)
  end
  return {{strategy = strategy, bits = bits, hashes = hashes, word = word}}, fields.funnel
end

-- The filter at a key: its layers; the kind of its elements, from its hash; and
-- whether that may be another filter's hash.
local function read_filter(key)
  local own = read_hash(own_key(key, ':bloomext'), 'layout', 'strategy', 'bits', 'hashes', 'funnel',
    'whole', 'witness', 'mirrored', 'id', 'slice', 'slices', 'newest', 'turned')
  local growing = read_hash(key .. '-config', 'strategy', 'bits', 'hashes', 'funnel', 'expected', 'fpp', 'expansion',
    'layers', 'whole', 'witness')
  local key_type = call('TYPE', key).ok
  if next(read_hash(own_key(key, ':bloomext-shards'), 'layout', 'shards')) then
    refuse('the filter at "%s" has shards', key)
  end
  local window = own.layout == 'window'
  if growing.bits or window then
    if key_type ~= 'none' or own.layout == 'bitmap' or growing.bits and window then
      refuse('key "%s" is described as two filters', key)
    end
    if window then return read_window(key, own) end
    return read_growing(key, growing)
  end
  if key_type == 'none' then refuse('there is no filter at "%s"', key) end
  if key_type ~= 'string' then refuse('key "%s" holds a %s, not a string', key, key_type) end
  if own.layout == 'bitmap' then
    local strategy, bits, hashes = read_shape(own)
    check_number(key, own.whole)
    return {make_layer(key, strategy, bits, hashes, parts_of(own.witness)[1])}, own.funnel
  end
  return read_guava(key, own)
end

---- Lookup ----

-- Whether one layer has all bits of a hash, of a window in one slice.  Bit 0 of a word
-- of Guava's is its last one.
local function contains(layers, ...)
  for i = #layers, 1, -1 do
    local layer = layers[i]
    local next_position, left, lanes = positions[layer.strategy](layer.bits, ...), layer.hashes, -1
    repeat
      local at = next_position()
      if layer.stream then at = at + 111 - at % 64 * 2 end
      lanes = layer.word and bit.band(lanes, layer.word(at)) or call('GETBIT', layer.key, at)
      if lanes == 0 then break end
      left = left - 1
    until left == 0
    if left == 0 then return true end
  end
  return false
end

-- The kinds that elements are looked up as.  A uuid is found among bytes.
local function kinds_to_ask(key, known, given, unsure)
  if known == '' then known = nil end
  if given and known and known ~= (given == 'uuid' and 'bytes' or given) then
    refuse('elements of the filter at "%s" are of kind %s, not %s', key, known, given)
  end
  local kind = given or known
  if not kind then
    refuse('the kind of the elements of the filter at "%s" is not known; pass it to bloomext_contains_as', key)
  end
  if not bytes_of[kind] then refuse('unknown kind "%s"', kind) end
  return {kind, unsure and not given and OTHER_KIND[kind] or nil}
end

-- An element by each kind; text that ends in blanks also without these, as char(n) is,
-- where the hash may be another filter's.
local function forms_to_ask(element, kinds, unsure)
  local forms = {}
  for _, kind in ipairs(kinds) do
    forms[#forms + 1] = {kind, element}
    if unsure and kind:find('^utf') and element:sub(-1) == ' ' then
      forms[#forms + 1] = {kind, element:match('^.*[^ ]') or ''}
    end
  end
  return forms
end

-- The key.  Further keys must belong to its filter, so that the results cannot be
-- mistaken for those of several filters.
local function check_keys(key, ...)
  if not key then refuse('KEY is missing') end
  local piece = own_key(key, ':bloomext-window-')
  for _, other in ipairs({...}) do
    local suffix = other:sub(1, #key) == key and other:sub(#key + 1) or ''
    if not (suffix:find('^%-%d+$') or suffix == '-config' or suffix == '-cursor' or other:sub(1, #piece) == piece or
        other == own_key(key, ':bloomext') or other == own_key(key, ':bloomext-shards')) then
      refuse('key "%s" does not belong to the filter at "%s"', other, key)
    end
  end
  return key
end

-- An answer for each element.
local function ask(keys, elements, given)
  local key = check_keys(unpack(keys))
  if #elements > MAX_ELEMENTS then refuse('%d elements exceed the maximum of %d', #elements, MAX_ELEMENTS) end
  local layers, known, unsure = read_filter(key)
  local strategy = layers[1].strategy
  local kinds, answers, length = kinds_to_ask(key, known, given, unsure), {}, 0
  for i, element in ipairs(elements) do
    length = length + #element
    if length > MAX_BYTES then refuse('elements exceed the maximum of %d bytes', MAX_BYTES) end
    answers[i] = 0
    if not given and known == 'bytes' and #element == 36 and bytes_of.uuid(element) then
      refuse('element %d reads as a uuid; use bloomext_contains_uuid, or bloomext_contains_as for text', i)
    end
    for _, form in ipairs(forms_to_ask(element, kinds, unsure)) do
      local bytes = bytes_of[form[1]](form[2], strategy) or refuse('element %d is not of kind %s', i, form[1])
      if contains(layers, HASHES[strategy](bytes)) then
        answers[i] = 1
        break
      end
    end
  end
  return answers
end

-- ask(), with errors returned as error replies.
local function answer(...)
  bxor, call, unpack_bytes = bit.bxor, redis.call, struct.unpack
  local done, reply = pcall(ask, ...)
  if done then return reply end
  return redis.error_reply(type(reply) == 'table' and reply.err or reply)
end

local functions = {
  bloomext_contains = answer,
  bloomext_contains_uuid = function(keys, uuids) return answer(keys, uuids, 'uuid') end,
  bloomext_contains_as = function(keys, arguments)
    return answer(keys, arguments, table.remove(arguments, 1) or '')
  end
}
local NAMES = {'bloomext_contains', 'bloomext_contains_uuid', 'bloomext_contains_as'}

if redis.register_function then
  for i = 1, #NAMES do
    redis.register_function{function_name = NAMES[i], callback = functions[NAMES[i]], flags = {'no-writes'}}
  end
else
  local called = functions[table.remove(ARGV, 1)]
  return called and called(KEYS, ARGV) or redis.error_reply('ERR bloomext: the first argument must name a function')
end
