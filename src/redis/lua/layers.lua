-- Precedes scripts about elements in layers; after guard.lua.
-- ARGV goes on with the number of layers; the number of their shapes (1 if all are
--   alike); the bytes of the block that has all positions of an element (0: they are
--   anywhere); k of each shape; and for each element, in each shape, its positions, or
--   the byte that its block starts at and a block with its bits alone, one in each word
--   of 32 bits.
local layers, shapes, block, at, k, step
local function read_shapes()
  layers, shapes, at, k, step = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), {}, {}, 0
  block = tonumber(ARGV[a + 2])
  a = a + 3
  for i = 1, shapes do
    at[i], k[i] = step, tonumber(ARGV[a])
    step = step + (block > 0 and 2 or k[i])
    a = a + 1
  end
end
-- The block of a string that starts at a byte.
local function block_at(key, start)
  local bytes = c('GETRANGE', key, start, start + block - 1)
  return #bytes == block and bytes or bytes .. ('\0'):rep(block - #bytes)
end
-- Whether the block of a string has the bits of ARGV[from + 1].
local band, unpacked = bit.band, struct.unpack
local function has_all(key, from)
  local bytes, bits = block_at(key, ARGV[from]), ARGV[from + 1]
  for i = 1, block, 4 do
    local wanted = unpacked('<i4', bits, i)
    if band(unpacked('<i4', bytes, i), wanted) ~= wanted then return false end
  end
  return true
end
-- Whether any layer, from the newest, holds the element whose positions start at ARGV[e].
local function found(e)
  for i = layers, 1, -1 do
    local s = shapes == 1 and 1 or i
    local from, missing = e + at[s], false
    if block > 0 then
      missing = not has_all(KEYS[i], from)
    else
      for j = from, from + k[s] - 1 do
        if c('GETBIT', KEYS[i], ARGV[j]) == 0 then
          missing = true
          break
        end
      end
    end
    if not missing then return true end
  end
  return false
end
