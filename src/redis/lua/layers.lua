-- Precedes scripts about elements in layers; after guard.lua.
-- ARGV goes on with the number of layers; the number of their shapes (1 if all are
--   alike); k of each shape; and for each element its positions in each shape.
local layers, shapes, at, k, step
local function read_shapes()
  layers, shapes, at, k, step = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), {}, {}, 0
  a = a + 2
  for i = 1, shapes do
    at[i], k[i] = step, tonumber(ARGV[a])
    step = step + k[i]
    a = a + 1
  end
end
-- Whether any layer, from the newest, holds the element whose positions start at ARGV[e].
local function found(e)
  for i = layers, 1, -1 do
    local s = shapes == 1 and 1 or i
    local from, missing = e + at[s], false
    for j = from, from + k[s] - 1 do
      if c('GETBIT', KEYS[i], ARGV[j]) == 0 then
        missing = true
        break
      end
    end
    if not missing then return true end
  end
  return false
end
