/**
 * The operations of `operations.ts` as one Lua script. The first argument names the operation.
 *
 * The rules stand here a second time, for they are decided where the lane is: deciding them in the process
 * and writing under a compare-and-set is faster for one process (1.8 times with 16 reservers), but between
 * four that share a lane only one wins per round trip: 0.4 of the pairs per second, and with
 * `appendfsync always`, where a round trip waits for the disk, 0.2.
 */
import { lane } from "./lane.js";

/**
 * Answers with the lane's commits, the operation's answer, and the last argument, by which the caller knows its own
 * answer. Of a lane that is not touched the first is the number that a code, the fourth, is about: the lane's format
 * (`newer`), its commits, fewer than the caller has seen by the argument before the last (`back`), or none (`damaged`).
 */
export const lua = `${lane}
local asked = ARGV[#ARGV]
local function main()
-- Asked for in each script, for a client finds another server behind its address whenever it connects again
if op ~= 'read' and op ~= 'all' then
  local role = redis.pcall('INFO', 'replication')
  if type(role) == 'string' and (string.find(role, 'role:slave', 1, true) or string.find(role, 'role:replica', 1, true)) then
    return { err = 'REPLICA of another server, which forgets what is written here ' .. asked }
  end
end
local bounds = redis.call('HMGET', key, 'floor', 'next', 'tail', 'doubt', 'doubtAt', 'commits', 'format')
if op == 'bootstrap' then
  if bounds[1] then return 0 end
  if redis.call('EXISTS', key) == 1 then return { code = 'damaged', count = 0 } end
  floor, nxt, tail, commits = num(2), num(2), num(2), now
  advance(num(2), num(3), num(4), num(5), num(6))
  flush()
  return 1
end
if not (bounds[1] and bounds[2] and bounds[3]) then return false end
floor, nxt, tail = tonumber(bounds[1]), tonumber(bounds[2]), tonumber(bounds[3])
doubt, doubtAt = tonumber(bounds[4] or '0'), tonumber(bounds[5] or '0')
commits = tonumber(bounds[6] or '0')
known = { floor = floor, next = nxt, tail = tail, doubt = doubt, doubtAt = doubtAt, commits = commits, format = tonumber(bounds[7] or '1') }
if known.format > FORMAT then return { code = 'newer', count = known.format } end
if commits < num(#ARGV - 1) then return { code = 'back', count = commits } end

if op == 'commit' then
  local n, token, hash = num(2), ARGV[3], ARGV[4]
  local slot = get(n)
  if not own(slot, token) then return 'lost' end
  if slot.state ~= 'r' then
    if slot.hashes[1] ~= hash or slot.outcome == 'burned' then return 'lost' end
    again()
    return 'committed'
  end
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
  commits = commits + 1
  flush()
  return 'committed'
elseif op == 'release' then
  local n = num(2) or find(ARGV[3])
  local slot = n and get(n)
  if not own(slot, ARGV[3]) or slot.state ~= 'r' then return 0 end
  vacate(n, slot)
  flush()
  return 1
elseif op == 'recycle' then
  local n = num(2)
  local slot = get(n)
  if not own(slot, ARGV[3]) or slot.state ~= 'c' or slot.shared ~= '0' or #slot.hashes ~= 1 or slot.hashes[1] ~= ARGV[4]
    or not (slot.outcome == '' or string.match(slot.outcome, '^%a+') == 'rejected') then return 0 end
  vacate(n, slot)
  flush()
  return 1
elseif op == 'replace' then
  local n, replaces, hash = num(2), ARGV[3], ARGV[4]
  local slot = get(n)
  local last = slot and slot.hashes[#slot.hashes]
  if not last or slot.outcome == 'burned' then return { 'conflict', last or '' } end
  for _, each in ipairs(slot.hashes) do
    if each == hash then
      again()
      return { 'replaced' }
    end
  end
  if last ~= replaces or #slot.hashes >= MAX_ATTEMPTS then return { 'conflict', last } end
  slot.hashes[#slot.hashes + 1] = hash
  slot.offered, slot.outcome = now, ''
  dirty[n] = true
  if ARGV[5] ~= '' then redis.call('HSET', key, 'r' .. s(n) .. '.' .. #slot.hashes, ARGV[5]) end
  commits = commits + 1
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
elseif op == 'adopt' then
  if num(2) + LEAD < floor then return { 'forgotten', s(tail) } end
  adopt(num(2), num(3), num(4), num(5))
  flush()
  return { 'adopted', s(floor), s(nxt) }
elseif op == 'read' then
  return snapshot(oldest())
elseif op == 'all' then
  return { s(now), redis.call('HGETALL', key) }
elseif op == 'reconcile' then
  local unmoved = advance(num(2), num(3), num(4), num(5), num(6))
  if unmoved then return { stop(unmoved), snapshot(oldest()) } end
  local due = {}
  local start = math.max(num(2), tail)
  local from = math.min(start, oldest())
  load(from, nxt)
  for n = start, nxt - 1 do
    if #due >= MAX_DUE then break end
    local slot = get(n)
    if slot and #slot.hashes > 0 and slot.outcome ~= 'burned' and slot.offered + num(7) <= now
      and redis.call('HEXISTS', key, 'r' .. s(n) .. '.' .. #slot.hashes) == 1 then
      due[#due + 1] = s(n)
      slot.offered, slot.shared = now, '1'
      dirty[n] = true
    end
  end
  flush()
  return { moved({ 'reconciled', s(from) }), snapshot(from), due }
elseif op == 'reserve' then
  local token, ttl, width, cap, gapOnly = ARGV[7], num(8), num(9), num(10), ARGV[11] == '1'
  if token == FOREIGN then return moved({ 'spent', s(floor) }) end
  local unmoved = advance(num(2), num(3), num(4), num(5), num(6))
  if unmoved then return stop(unmoved) end
  local inFlight, pair, lowest, highest, firstEnd, answer, head, first = 0, false, nil, nil, nil, nil, nil, nil
  for n = floor, nxt - 1 do
    local slot = get(n)
    if not slot then
      inFlight = inFlight + 1
    elseif slot.state == 'f' then
      lowest = lowest or n
    else
      if not head then head, first = n, slot end
      if slot.width ~= 0 then
        inFlight = inFlight + 1
        if slot.token == token then
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
      answer = { 'busy', s(inFlight), s(limit), firstEnd and s(math.max(0, firstEnd - now)) or '', head and s(head) or '',
        first and first.hashes[#first.hashes] or '', first and first.outcome or '', first and s(math.max(0, now - first.since)) or '' }
    end
  end
  flush()
  return moved(answer)
end
return { err = 'ERR unknown operation' }
end
local answer = main()
if type(answer) == 'table' and answer.err then return answer end
if type(answer) == 'table' and answer.code then return { s(answer.count), false, asked, answer.code } end
return { s(commits), answer, asked }
`;
