/**
 * A lane in Lua, as `laneRules.ts` has it: one hash per lane, so that it is lost as a whole or not at all.
 * Time is the server's. Nonces are whole numbers below 2^53.
 *
 * Fields: `floor`, `next`, `tail`, `doubt`, `doubtAt`, `commits`, `format`; `<nonce>` = state|token|width|until|since|offeredAt|shared|outcome|hashes;
 * `r<nonce>.<i>` = the bytes of the i-th transaction, from 1.
 */
import { foreign, maxAttempts, maxLead, maxPendingLead, maxSettled, pruneStep } from "../laneRules.js";
import { maxDue, recent } from "../operations.js";

/** The format of lanes that this version writes; those of 0.1.0 have no number. */
export const laneFormat = 2;

/** Reading and writing slots, and the common start of every operation that read the chain. */
export const lane = `
local key, op = KEYS[1], ARGV[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function s(n) return string.format('%.0f', n) end
local function num(i) return tonumber(ARGV[i]) end

local FOREIGN, LEAD, PENDING_LEAD, MAX_SETTLED = '${foreign}', ${maxLead}, ${maxPendingLead}, ${maxSettled}
local PRUNE, MAX_ATTEMPTS, RECENT, MAX_DUE, FORMAT = ${pruneStep}, ${maxAttempts}, ${recent}, ${maxDue}, ${laneFormat}
local floor, nxt, tail
local doubt, doubtAt, commits = 0, 0, 0
local known = {}
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
  local writes, deletes = {}, {}
  for name, value in pairs({ floor = floor, next = nxt, tail = tail, doubt = doubt, doubtAt = doubtAt, commits = commits, format = FORMAT }) do
    if known[name] ~= value then
      writes[#writes + 1] = name
      writes[#writes + 1] = s(value)
    end
  end
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
-- What a lost reply has repeated must be waited for as well: since Redis 7.2 a WAIT covers only what
-- its own connection wrote
local function again() redis.call('HSET', key, 'floor', s(floor)) end
local function trim()
  while nxt > floor do
    local top = get(nxt - 1)
    if not (top and top.state == 'f') then return end
    nxt = nxt - 1
    set(nxt, nil)
  end
end

local function raise(latest)
  for n = floor, math.min(latest, nxt) - 1 do
    local slot = get(n)
    if slot then
      if slot.state == 'c' then
        if slot.width ~= 0 then settled = settled + 1 end
      else
        slot = free()
        slot.token = FOREIGN
      end
      slot.state, slot.since = 's', now
      set(n, slot)
    end
  end
  floor = latest
  if nxt < latest then nxt = latest end
  if floor < nxt then
    local first = get(floor)
    if first and first.width == 0 then set(floor, free()) end
  end
end
local function keepsAll(from)
  if from < tail then return false end
  load(from, floor)
  for n = from, floor - 1 do
    if not get(n) then return false end
  end
  return true
end
local function lower(to)
  load(to, floor)
  for n = to, floor - 1 do
    local slot, before, after = get(n) or free(), get(n - 1), get(n + 1)
    local isSecond = slot.width == 0 and before and before.state == 'c' and before.token == slot.token
    if not isSecond and (#slot.hashes == 0 or slot.outcome == 'burned') then
      set(n, free())
    else
      slot.state, slot.since, slot.outcome = 'c', now, ''
      set(n, slot)
      if slot.width == 2 and not (after and after.width == 0 and after.token == slot.token) then
        local isFree = after and after.state == 'f' or not after and n + 1 >= nxt
        if isFree then
          local second = free()
          second.state, second.token, second.width, second.since = 'c', slot.token, 0, now
          set(n + 1, second)
          if nxt < n + 2 then nxt = n + 2 end
        else
          slot.width = 1
        end
      end
    end
  end
  floor = to
end
local function settle(latest, doubtMs)
  local isLow, isFar = latest < floor, latest > nxt and latest > floor + PENDING_LEAD
  if not isLow and not isFar then
    doubtAt = 0
    if latest <= nxt then raise(latest) end
    return nil
  end
  if latest > nxt + LEAD then return 'implausible' end
  if doubtAt == 0 or (doubt < floor) ~= isLow then
    doubt, doubtAt = latest, now
  else
    doubt = isLow and math.max(doubt, latest) or math.min(doubt, latest)
  end
  if doubtAt + doubtMs > now then return not isLow and 'implausible' or nil end
  if isLow and not keepsAll(doubt) then return 'forgotten' end
  if isLow then lower(doubt) else raise(doubt) end
  doubtAt = 0
  return nil
end
local function sweep(latest, pending, settledMs, foreignMs)
  load(floor, nxt)
  pending = math.max(pending, latest)
  for n = floor, nxt - 1 do
    local slot = get(n)
    if slot and slot.state == 'r' and slot.ends <= now then
      if slot.width ~= 0 and slot.token ~= FOREIGN then recycled = recycled + 1 end
      set(n, free())
    end
  end
  if pending <= floor + PENDING_LEAD then
    for n = floor, pending - 1 do
      local slot = n < nxt and get(n)
      if n >= nxt or slot and (slot.state == 'f' or slot.token == FOREIGN) then
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
end
local function advance(latest, pending, settledMs, foreignMs, doubtMs)
  load(floor, nxt)
  local unmoved = settle(latest, doubtMs)
  if not unmoved then sweep(latest, pending, settledMs, foreignMs) end
  return unmoved
end
local function adopt(latest, pending, settledMs, foreignMs)
  load(floor, nxt)
  local oldNext = nxt
  doubtAt = 0
  if latest < floor then
    lower(latest)
    tail = math.min(tail, latest)
  else
    raise(latest)
    local shortest = floor - MAX_SETTLED
    for n = tail, math.min(shortest, oldNext) - 1 do
      if get(n) then set(n, nil) end
    end
    tail = math.max(tail, shortest)
  end
  sweep(latest, pending, settledMs, foreignMs)
end
local function moved(answer)
  answer[#answer + 1] = s(settled)
  answer[#answer + 1] = s(recycled)
  return answer
end
local function stop(unmoved)
  flush()
  return moved({ unmoved, s(unmoved == 'implausible' and nxt or tail) })
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
local function find(token)
  load(floor, nxt)
  for n = floor, nxt - 1 do
    if own(get(n), token) then return n end
  end
end
local function vacate(n, slot)
  local width = slot.width
  set(n, free())
  if width == 2 then set(n + 1, free()) end
  trim()
end
`;
