-- Precedes scripts about elements in layers; after guard.lua.
-- ARGV goes on with the number of layers; the number of their shapes (1 if all are
--   alike); the bytes of the block that has all positions of an element (0: they are
--   anywhere); k of each shape; and for each element its positions in each shape.
local layers, shapes, block, at, k, step
local function read_shapes()
  layers, shapes, at, k, step = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), {}, {}, 0
  block = tonumber(ARGV[a + 2])
  a = a + 3
  for i = 1, shapes do
    at[i], k[i] = step, tonumber(ARGV[a])
    step = step + k[i]
    a = a + 1
  end
end
-- Whether the block of a string has the bits of the positions from ARGV[from] to ARGV[to].
local function has_all(key, from, to)
  local first = tonumber(ARGV[from])
  local start = first - first % (block * 8)
  local bytes = c('GETRANGE', key, start / 8, start / 8 + block - 1)
  for j = from, to do
    local bit = ARGV[j] - start
    local byte = bytes:byte((bit - bit % 8) / 8 + 1) or 0
    if byte % 2 ^ (8 - bit % 8) < 2 ^ (7 - bit % 8) then return false end
  end
  return true
end
-- Whether any layer, from the newest, holds the element whose positions start at ARGV[e].
local function found(e)
  for i = layers, 1, -1 do
    local s = shapes == 1 and 1 or i
    local from, to, missing = e + at[s], e + at[s] + k[s] - 1, false
    if block > 0 then
      missing = not has_all(KEYS[i], from, to)
    else
      for j = from, to do
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
