#define BF_SCRIPT_ATTACH \
"local c, bits, aside = redis.call, KEYS[1], KEYS[2]\n" \
"if c('TYPE', aside).ok == 'list' then\n" \
"c('DEL', aside)\n" \
"elseif c('EXISTS', bits) == 0 or c('PTTL', aside) >= 0 then\n" \
"c('RENAME', aside, bits)\n" \
"else\n" \
"c('DEL', aside, bits)\n" \
"end\n" \

#define BF_SCRIPT_CREATE \
"local c, ttl, k = redis.call, tonumber(ARGV[1]), 2\n" \
"for i = 1, ARGV[2] ~= '' and 1 or #KEYS do\n" \
"if c('EXISTS', KEYS[i]) == 1 then return 0 end\n" \
"end\n" \
"for i = 2, #KEYS do c('DEL', KEYS[i]) end\n" \
"if ARGV[2] ~= '' then\n" \
"c('SETBIT', KEYS[1], ARGV[2] * 8 - 1, 0)\n" \
"if ARGV[3] ~= '' then c('SETRANGE', KEYS[1], 0, ARGV[3]) end\n" \
"end\n" \
"if #ARGV > 4 then\n" \
"c('HSET', KEYS[k], unpack(ARGV, 5))\n" \
"k = k + 1\n" \
"end\n" \
"if ARGV[4] ~= '' then c('SET', KEYS[k], ARGV[4]) end\n" \
"if ttl > 0 then\n" \
"for i = 1, #KEYS do c('PEXPIRE', KEYS[i], ttl) end\n" \
"end\n" \
"return 1\n" \

#define BF_SCRIPT_DESCRIBE \
"local c = redis.call\n" \
"local t = c('TYPE', KEYS[1]).ok\n" \
"local r = {t, '', 0}\n" \
"if not ARGV[1]:find(t, 1, true) then\n" \
"r[2] = c('GETRANGE', KEYS[1], 0, 7)\n" \
"r[3] = c('STRLEN', KEYS[1])\n" \
"end\n" \
"local a = 2\n" \
"for i = 2, #KEYS do\n" \
"local n = tonumber(ARGV[a])\n" \
"local t = c('TYPE', KEYS[i]).ok\n" \
"r[i + 2] = false\n" \
"if n == 0 and t == 'string' then\n" \
"r[i + 2] = c('GETRANGE', KEYS[i], 0, 19)\n" \
"elseif n > 0 and t == 'hash' then\n" \
"r[i + 2] = c('HMGET', KEYS[i], unpack(ARGV, a + 1, a + n))\n" \
"end\n" \
"a = a + n + 1\n" \
"end\n" \
"return r\n" \

#define BF_SCRIPT_DETACH \
"local c = redis.call\n" \
"local bits, aside, config, head = KEYS[1], KEYS[2], KEYS[3], ARGV[1]\n" \
"local there = c('STRLEN', bits) > 0\n" \
"if head ~= '' and c('GETRANGE', bits, 0, #head - 1) ~= head then return 0 end\n" \
"for i = 3, #ARGV, 2 do\n" \
"if c('HGET', config, ARGV[i]) ~= ARGV[i + 1] then return 0 end\n" \
"end\n" \
"if not there then\n" \
"if ARGV[2] == '1' then return 0 end\n" \
"c('SETBIT', bits, 0, 0)\n" \
"local ttl = c('PTTL', config)\n" \
"if ttl > 0 then c('PEXPIRE', bits, ttl) end\n" \
"end\n" \
"c('RENAME', bits, aside)\n" \
"if c('PTTL', aside) >= 0 then c('SET', bits, '') end\n" \
"return 1\n" \

#define BF_SCRIPT_DIGEST \
"local c, block = redis.call, tonumber(ARGV[4])\n" \
"if c('STRLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return false end\n" \
"local digests, n = {}, 0\n" \
"for at = tonumber(ARGV[2]), ARGV[3] - 1, block do\n" \
"n = n + 1\n" \
"digests[n] = redis.sha1hex(c('GETRANGE', KEYS[1], at, at + block - 1)):sub(1, 32)\n" \
"end\n" \
"return table.concat(digests)\n" \

#define BF_SCRIPT_GROW \
"local c = redis.call\n" \
"local layers, full, last = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]\n" \
"local next, config, cursor = KEYS[layers + 1], KEYS[layers + 2], KEYS[layers + 3]\n" \
"local a = 5\n" \
"for i = 1, tonumber(ARGV[4]) do\n" \
"if c('HGET', config, ARGV[a]) ~= ARGV[a + 1] then return false end\n" \
"a = a + 2\n" \
"end\n" \
"if (c('GET', cursor) or '0') ~= tostring(layers - 1) then return false end\n" \
"for i = 1, layers do\n" \
"if c('EXISTS', KEYS[i]) == 0 then return false end\n" \
"end\n" \
"local shapes = tonumber(ARGV[a])\n" \
"a = a + 1\n" \
"local at, k, step = {}, {}, 0\n" \
"for i = 1, shapes do\n" \
"at[i], k[i] = step, tonumber(ARGV[a])\n" \
"step = step + k[i]\n" \
"a = a + 1\n" \
"end\n" \
"local newest = KEYS[layers]\n" \
"local filled = c('BITCOUNT', newest)\n" \
"local function zeros(command, verb, key, from, count, value)\n" \
"local t, n = {command, key}, 2\n" \
"for i = from, from + count - 1 do\n" \
"t[n + 1] = verb t[n + 2] = 'u1' t[n + 3] = ARGV[i]\n" \
"n = n + 3\n" \
"if value then n = n + 1 t[n] = value end\n" \
"end\n" \
"local zero = 0\n" \
"for _, bit in ipairs(c(unpack(t))) do zero = zero + 1 - bit end\n" \
"return zero\n" \
"end\n" \
"local answers, m = {}, 0\n" \
"for e = a, #ARGV, step do\n" \
"local found, changed = false, 0\n" \
"if layers > 1 then\n" \
"for i = layers, 1, -1 do\n" \
"local s = shapes == 1 and 1 or i\n" \
"if zeros('BITFIELD_RO', 'GET', KEYS[i], e + at[s], k[s]) == 0 then\n" \
"found = true\n" \
"break\n" \
"end\n" \
"end\n" \
"end\n" \
"if not found then\n" \
"changed = zeros('BITFIELD', 'SET', newest, e + at[shapes], k[shapes], '1')\n" \
"filled = filled + changed\n" \
"end\n" \
"m = m + 1\n" \
"answers[m] = changed > 0 and '1' or '0'\n" \
"if filled >= full then\n" \
"local ttl = c('PTTL', config)\n" \
"c('DEL', next)\n" \
"c('SETBIT', next, last, 0)\n" \
"c('SET', cursor, layers)\n" \
"if ttl > 0 then\n" \
"c('PEXPIRE', next, ttl)\n" \
"c('PEXPIRE', cursor, ttl)\n" \
"end\n" \
"break\n" \
"end\n" \
"end\n" \
"return table.concat(answers)\n" \

#define BF_SCRIPT_REPLACE \
"local c = redis.call\n" \
"local n, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])\n" \
"local function last(key)\n" \
"if ttl > 0 then c('PEXPIRE', key, ttl) else c('PERSIST', key) end\n" \
"end\n" \
"for i = 1, n do\n" \
"if c('EXISTS', KEYS[i]) == 0 then return 0 end\n" \
"end\n" \
"for i = 1, n do\n" \
"c('RENAME', KEYS[i], KEYS[n + i])\n" \
"last(KEYS[n + i])\n" \
"end\n" \
"local k = 2 * n + 1\n" \
"if #ARGV > 3 then\n" \
"c('DEL', KEYS[k])\n" \
"c('HSET', KEYS[k], unpack(ARGV, 4))\n" \
"last(KEYS[k])\n" \
"k = k + 1\n" \
"end\n" \
"if ARGV[3] ~= '' then\n" \
"c('SET', KEYS[k], ARGV[3])\n" \
"last(KEYS[k])\n" \
"k = k + 1\n" \
"end\n" \
"for i = k, #KEYS do c('DEL', KEYS[i]) end\n" \
"return 1\n" \

