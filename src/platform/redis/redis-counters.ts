import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { type Clock, systemClock } from '#base/clock.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { CounterState, CounterKey, CounterRule, CounterStep, Counters } from './counters.ts'
import { MemoryCounters } from './memory-counters.ts'
import type { RedisActivity } from './redis-activity.ts'
import type { RedisConnection, RedisTimeouts } from './redis-connection.ts'

const REMEMBERED_DEBTS = 100_000

/** The rules of `memory-counters.ts`, by Redis's own clock, so that replicas need not agree about the time. */
const STEP_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local step, owed = ARGV[1], tonumber(ARGV[2])
local free, first, last = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local forget, after, weight = tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8])
local stored = redis.call('HMGET', KEYS[1], 'count', 'until', 'refused')
local count, waits = tonumber(stored[1] or '0'), tonumber(stored[2] or '0')
local refused = stored[3] == '1'

local function change(by)
  local fresh = count == 0
  count = math.max(0, count + by)
  if count == 0 then
    redis.call('DEL', KEYS[1])
    waits = 0
    return
  end
  redis.call('HSET', KEYS[1], 'count', count)
  if by > 0 then
    redis.call('HSET', KEYS[1], 'refused', '0')
    if fresh or after == 'latest' then redis.call('PEXPIRE', KEYS[1], forget) end
  end
  if count < free then
    waits = 0
  elseif by > 0 then
    local wait = math.min(first * 2 ^ (count - free), last)
    waits = now + math.min(wait, redis.call('PTTL', KEYS[1]))
  end
  redis.call('HSET', KEYS[1], 'until', waits)
end

if owed ~= 0 then change(owed) end
if step == 'begin' and weight > 1 and count > 0 and count + weight > free then
  waits = math.max(waits, now + redis.call('PTTL', KEYS[1]))
end
local blocked = waits > now
if step == 'begin' and blocked then
  redis.call('HSET', KEYS[1], 'refused', '1')
elseif step == 'begin' or step == 'add' then
  change(weight)
elseif step == 'undo' then
  change(-weight)
end
local admitted = (step ~= 'begin' and step ~= 'look') or not blocked
local firstRefusal = step == 'begin' and blocked and not refused
return { count, math.max(0, waits - now), admitted and 1 or 0, firstRefusal and 1 or 0 }`

/** Opens counters that replicas share, or counters of this process alone when there is no Redis. */
export async function openCounters(
  redisUrl: string | undefined,
  logger: Logger,
  { clock = systemClock, ...patience }: RedisTimeouts & { readonly clock?: Clock } = {},
): Promise<Counters> {
  const memory = new MemoryCounters({ clock })
  if (redisUrl === undefined) return memory
  const silence = 'redis does not answer; each replica counts tries alone'
  // The client is worth its memory only where there is a Redis.
  const { RedisConnection: Connection } = await import('./redis-connection.ts')
  const link = new Connection(redisUrl, { logger, silence }, patience)
  return new RedisCounters({ link, memory })
}

class RedisCounters implements Counters {
  readonly redisActivity: RedisActivity
  readonly #link: RedisConnection
  /** What Redis last said of each counter, and what was counted since it fell silent. */
  readonly #memory: MemoryCounters
  /** What Redis does not have yet; negative where it has too much. */
  readonly #owed = new LRUCache<string, number>({ max: REMEMBERED_DEBTS })

  constructor(deps: { link: RedisConnection; memory: MemoryCounters }) {
    this.#link = deps.link
    this.redisActivity = deps.link.activity
    this.#memory = deps.memory
  }

  async step(key: CounterKey, rule: CounterRule, step: CounterStep): Promise<CounterState> {
    const owed = this.#takeOwed(key)
    const answer = await this.#link.attempt((client) =>
      client.eval(STEP_SCRIPT, 1, redisKey(key), step, owed, ...ruleArguments(rule)),
    )
    const counted = countedOf(answer)
    if (!counted) return this.#stepAlone(key, { rule, step, owed })
    this.#memory.mirror(key, rule, counted)
    return counted
  }

  async clear(key: CounterKey): Promise<void> {
    const owed = this.#takeOwed(key)
    const removed = await this.#link.attempt((client) => client.unlink(redisKey(key)))
    if (removed === undefined) this.#owe(key, owed - this.#memory.count(key))
    await this.#memory.clear(key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.close()
  }

  async #stepAlone(
    key: CounterKey,
    { rule, step, owed }: { rule: CounterRule; step: CounterStep; owed: number },
  ): Promise<CounterState> {
    const before = this.#memory.count(key)
    const counted = await this.#memory.step(key, rule, step)
    this.#owe(key, owed + counted.count - before)
    return counted
  }

  /** Takes the count before the command is sent, so that two commands at once do not both add it. */
  #takeOwed(key: CounterKey): number {
    const owed = this.#owed.get(redisKey(key)) ?? 0
    this.#owed.delete(redisKey(key))
    return owed
  }

  #owe(key: CounterKey, count: number): void {
    const owed = (this.#owed.get(redisKey(key)) ?? 0) + count
    if (owed === 0) this.#owed.delete(redisKey(key))
    else this.#owed.set(redisKey(key), owed)
  }
}

const ruleArguments = (rule: CounterRule): (string | number)[] => [
  rule.free,
  rule.firstWaitMs,
  rule.lastWaitMs,
  rule.forgetMs,
  rule.forgetAfter,
  rule.weight ?? 1,
]

/** Undefined when Redis did not answer. */
function countedOf(answer: unknown): CounterState | undefined {
  if (!Array.isArray(answer)) return undefined
  const [count, waitMs, admitted, firstRefusal] = answer.map(Number)
  if (count === undefined || waitMs === undefined) return undefined
  return { count, waitMs, admitted: admitted === 1, firstRefusal: firstRefusal === 1 }
}

/** The braces keep a site's keys in one slot of a cluster. */
const redisKey = ({ siteId, name }: CounterKey): string =>
  `croft:{${siteId}}:count:${createHash('sha256').update(name).digest('base64url')}`
