/**
 * The operations of `operations.ts` as one Lua script over one hash per lane, so that a lane is lost
 * as a whole or not at all. Time is the server's. Nonces are whole numbers below 2^53.
 *
 * Fields: `floor`, `next`, `tail`; `<nonce>` = state|token|width|until|since|offeredAt|shared|outcome|hashes;
 * `r<nonce>.<i>` = the bytes of the i-th transaction, from 1.
 */
export const lua = `
local key, op = KEYS[1], ARGV[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function s(n) return string.format('%.0f', n) end
local function num(i) return tonumber(ARGV[i]) end

local FOREIGN, LEAD, PENDING_LEAD, MAX_SETTLED, PRUNE, MAX_ATTEMPTS, RECENT, MAX_DUE = 'foreign', 65536, 1024, 4096, 64, 32, 64, 64
local floor, nxt, tail
local cache, dirty, gone = {}, {}, {}
local settled, recycled = 0, 0

local function decode(text)
  if not text then return nil end
  local p = {}
  for part in string.gmatch(text .. '|', '([^|]*)|') do p[#p + 1] = part end
  local slot = { state = p[1], token = p[2] or '', width = tonumber(p[3] or '1'), ends = tonumber(p[4] or '0'),
    since = tonumber(p[5] or '0'), offered = tonumber(p[6] or '0'), shared = p[7] or '0', outcome = p[8] or '', hashes = {} }
  for hash in string.gmatch(p[9] or '', '[^,]+') do slot.hashes[#slot.hashes + 1] = hash end
  return slot
end
local function encode(t)
  if t.state == 'f' then return 'f' end
  return table.concat({ t.state, t.token, s(t.width), s(t.ends), s(t.since), s(t.offered), t.shared, t.outcome, table.concat(t.hashes, ',') }, '|')
end
local function free() return { state = 'f', token = '', width = 1, ends = 0, since = 0, offered = 0, shared = '0', outcome = '', hashes = {} } end
local function load(from, to)
  local at = from
  while at < to do
    local names = {}
    while at < to and #names < 500 do
      if cache[at] == nil then names[#names + 1] = s(at) end
      at = at + 1
    end
    if #names > 0 then
      local values = redis.call('HMGET', key, unpack(names))
      for i, name in ipairs(names) do cache[tonumber(name)] = decode(values[i]) or false end
    end
  end
end
local function get(n)
  if cache[n] == nil then cache[n] = decode(redis.call('HGET', key, s(n))) or false end
  return cache[n] or nil
end
local function forget(n, slot)
  for i = 1, #slot.hashes do gone[#gone + 1] = 'r' .. s(n) .. '.' .. i end
end
local function set(n, slot)
  local old = get(n)
  if old and (slot == nil or slot.state == 'f') then forget(n, old) end
  cache[n] = slot or false
  dirty[n] = true
end
local function flush()
  local writes, deletes = { 'floor', s(floor), 'next', s(nxt), 'tail', s(tail) }, {}
  for n in pairs(dirty) do
    local slot = cache[n]
    if slot then
      writes[#writes + 1] = s(n)
      writes[#writes + 1] = encode(slot)
    else
      deletes[#deletes + 1] = s(n)
    end
  end
  for _, name in ipairs(gone) do deletes[#deletes + 1] = name end
  for i = 1, #deletes, 500 do redis.call('HDEL', key, unpack(deletes, i, math.min(i + 499, #deletes))) end
  for i = 1, #writes, 500 do redis.call('HSET', key, unpack(writes, i, math.min(i + 499, #writes))) end
end
local function trim()
  while nxt > floor do
    local top = get(nxt - 1)
    if not (top and top.state == 'f') then return end
    nxt = nxt - 1
    set(nxt, nil)
  end
end

local function advance(latest, pending, settledMs, foreignMs)
  if latest > nxt + LEAD then return false end
  load(floor, nxt)
  if latest > floor then
    for n = floor, math.min(latest, nxt) - 1 do
      local slot = get(n)
      if slot and slot.state == 'c' and slot.width ~= 0 then
        settled = settled + 1
        slot.state, slot.since = 's', now
        dirty[n] = true
      else
        set(n, nil)
      end
    end
    floor = latest
    if nxt < latest then nxt = latest end
    if floor < nxt then
      local first = get(floor)
      if first and first.width == 0 then set(floor, free()) end
    end
  end
  for n = floor, nxt - 1 do
    local slot = get(n)
    if slot and slot.state == 'r' and slot.ends <= now then
      if slot.width ~= 0 and slot.token ~= FOREIGN then recycled = recycled + 1 end
      set(n, free())
    end
  end
  if pending <= floor + PENDING_LEAD then
    for n = floor, pending - 1 do
      local slot = n < nxt and get(n) or nil
      if slot == nil or slot.state == 'f' or slot.token == FOREIGN then
        local held = free()
        held.state, held.token, held.ends, held.since = 'r', FOREIGN, now + foreignMs, now
        set(n, held)
      end
    end
    if nxt < pending then nxt = pending end
  end
  trim()
  for _ = 1, PRUNE do
    if tail >= floor then break end
    local slot = get(tail)
    if slot and slot.since + settledMs > now and floor - tail <= MAX_SETTLED then break end
    if slot then set(tail, nil) end
    tail = tail + 1
  end
  return true
end
local function moved(answer)
  answer[#answer + 1] = s(settled)
  answer[#answer + 1] = s(recycled)
  return answer
end
local function snapshot(from)
  local out = { s(now), s(floor), s(nxt), s(tail) }
  load(from, nxt)
  for n = from, nxt - 1 do
    local slot = get(n)
    if slot then
      out[#out + 1] = s(n)
      out[#out + 1] = encode(slot)
      for i = 1, #slot.hashes do out[#out + 1] = redis.call('HGET', key, 'r' .. s(n) .. '.' .. i) or '' end
    end
  end
  return out
end
local function oldest() return math.max(tail, floor - RECENT) end
local function own(slot, token) return slot and token ~= FOREIGN and slot.token == token and slot.width ~= 0 end
local function vacate(n, slot)
  local width = slot.width
  set(n, free())
  if width == 2 then set(n + 1, free()) end
  trim()
end

local bounds = redis.call('HMGET', key, 'floor', 'next', 'tail')
if op == 'bootstrap' then
  if bounds[1] then return 0 end
  if redis.call('EXISTS', key) == 1 then return redis.error_reply('DAMAGED the lane has lost its bounds') end
  floor, nxt, tail = num(2), num(2), num(2)
  advance(num(2), num(3), num(4), num(5))
  flush()
  return 1
end
if not (bounds[1] and bounds[2] and bounds[3]) then return false end
floor, nxt, tail = tonumber(bounds[1]), tonumber(bounds[2]), tonumber(bounds[3])

if op == 'commit' then
  local n, token, hash = num(2), ARGV[3], ARGV[4]
  local slot = get(n)
  if not own(slot, token) then return 'lost' end
  if slot.state ~= 'r' then return slot.hashes[1] == hash and 'committed' or 'lost' end
  slot.state, slot.ends, slot.since, slot.offered, slot.hashes = 'c', 0, now, now, { hash }
  dirty[n] = true
  if slot.width == 2 then
    local second = get(n + 1)
    if second and second.width == 0 and second.token == token then
      second.state, second.ends, second.since = 'c', 0, now
      dirty[n + 1] = true
    end
  end
  if ARGV[5] ~= '' then redis.call('HSET', key, 'r' .. s(n) .. '.1', ARGV[5]) end
  flush()
  return 'committed'
elseif op == 'release' then
  local n = num(2)
  local slot = get(n)
  if not own(slot, ARGV[3]) or slot.state ~= 'r' then return 0 end
  vacate(n, slot)
  flush()
  return 1
elseif op == 'recycle' then
  local n = num(2)
  local slot = get(n)
  if not own(slot, ARGV[3]) or slot.state ~= 'c' or slot.shared ~= '0' or #slot.hashes ~= 1 or slot.hashes[1] ~= ARGV[4]
    or not (slot.outcome == '' or slot.outcome == 'rejected') then return 0 end
  vacate(n, slot)
  flush()
  return 1
elseif op == 'replace' then
  local n, replaces, hash = num(2), ARGV[3], ARGV[4]
  local slot = get(n)
  local last = slot and slot.hashes[#slot.hashes]
  if not last then return { 'conflict', '' } end
  if last == hash then return { 'replaced' } end
  if last ~= replaces or #slot.hashes >= MAX_ATTEMPTS then return { 'conflict', last } end
  slot.hashes[#slot.hashes + 1] = hash
  slot.offered, slot.outcome = now, ''
  dirty[n] = true
  if ARGV[5] ~= '' then redis.call('HSET', key, 'r' .. s(n) .. '.' .. #slot.hashes, ARGV[5]) end
  flush()
  return { 'replaced' }
elseif op == 'report' then
  local n, hash, outcome = num(2), ARGV[3], ARGV[4]
  local slot = get(n)
  if not slot or (slot.state == 's') ~= (outcome == 'mined' or outcome == 'burned') then return 0 end
  for _, each in ipairs(slot.hashes) do
    if each == hash then
      slot.outcome = outcome
      dirty[n] = true
      flush()
      return 1
    end
  end
  return 0
elseif op == 'read' then
  return snapshot(oldest())
elseif op == 'all' then
  return { s(now), redis.call('HGETALL', key) }
elseif op == 'reconcile' then
  if not advance(num(2), num(3), num(4), num(5)) then return { moved({ 'implausible', s(nxt) }), snapshot(oldest()) } end
  local due = {}
  local from = oldest()
  load(from, nxt)
  for n = math.max(num(2), from), nxt - 1 do
    if #due >= MAX_DUE then break end
    local slot = get(n)
    if slot and #slot.hashes > 0 and slot.offered + num(6) <= now
      and redis.call('HEXISTS', key, 'r' .. s(n) .. '.' .. #slot.hashes) == 1 then
      due[#due + 1] = s(n)
      slot.offered, slot.shared = now, '1'
      dirty[n] = true
    end
  end
  flush()
  return { moved({ 'reconciled', s(from) }), snapshot(from), due }
elseif op == 'reserve' then
  local token, ttl, width, cap, gapOnly = ARGV[6], num(7), num(8), num(9), ARGV[10] == '1'
  if not advance(num(2), num(3), num(4), num(5)) then return moved({ 'implausible', s(nxt) }) end
  local inFlight, pair, lowest, highest, firstEnd, answer = 0, false, nil, nil, nil, nil
  for n = floor, nxt - 1 do
    local slot = get(n)
    if slot == nil or slot.state == 'f' then
      lowest = lowest or n
    else
      if slot.width ~= 0 then
        inFlight = inFlight + 1
        if slot.token == token and token ~= FOREIGN then
          answer = slot.state == 'r' and { 'granted', s(n), s(slot.ends - now) } or { 'spent', s(n) }
        end
      end
      if slot.width ~= 1 then pair = true end
      if slot.state == 'c' then highest = n end
      if slot.state == 'r' and (firstEnd == nil or slot.ends < firstEnd) then firstEnd = slot.ends end
    end
  end
  if not answer then
    local gap = lowest ~= nil and highest ~= nil and lowest < highest
    local limit = (width == 2 or pair) and math.min(1, cap) or cap
    local n
    if gapOnly then
      if gap and width == 1 then n = lowest end
    elseif width == 1 and lowest ~= nil and (gap or inFlight < limit) then
      n = lowest
    elseif inFlight < limit and lowest == nil then
      n = nxt
    end
    if n then
      for i = 0, width - 1 do
        local leased = free()
        leased.state, leased.token, leased.ends, leased.since = 'r', token, now + ttl, now
        leased.width = i == 0 and width or 0
        set(n + i, leased)
      end
      if nxt < n + width then nxt = n + width end
      answer = { 'granted', s(n), s(ttl) }
    elseif gapOnly then
      answer = { 'nogap' }
    else
      answer = { 'busy', s(inFlight), s(limit), firstEnd and s(math.max(0, firstEnd - now)) or '' }
    end
  end
  flush()
  return moved(answer)
end
return redis.error_reply('ERR unknown operation')
`;
