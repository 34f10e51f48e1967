import { ErrorClass, floor } from '#sandbox/guest/web/primordials.ts'

import type { CallSite } from './host-error.ts'
import { isLive } from './live-calls.ts'
import { SafeMap } from './safe-map.ts'

const MAX_TIMERS = 10_000
const MAX_DELAY_MS = 2_147_483_647

interface Timer {
  readonly id: number
  readonly repeatMs: number
  readonly call: number
  readonly fire: () => void
  /** Where it was set. */
  readonly at: CallSite
  dueMs: number
  next: Timer | undefined
}

const timers = new SafeMap<Timer>()
let earliest: Timer | undefined
let lastId = 0

/** Puts a timer that belongs to `call` into the queue. The host enters the isolate again when it is due. */
export function addTimer(
  nowMs: number,
  delayMs: number,
  options: { repeat: boolean } & Pick<Timer, 'call' | 'fire' | 'at'>,
): number {
  if (timers.size >= MAX_TIMERS) throw new ErrorClass(`More than ${MAX_TIMERS} timers are set`)
  const delay = delayMs >= 1 && delayMs <= MAX_DELAY_MS ? floor(delayMs) : 1
  lastId += 1
  const timer: Timer = {
    id: lastId,
    repeatMs: options.repeat ? delay : 0,
    call: options.call,
    fire: options.fire,
    at: options.at,
    dueMs: nowMs + delay,
    next: undefined,
  }
  timers.set(timer.id, timer)
  insert(timer)
  return timer.id
}

export function removeTimer(id: number): void {
  const timer = timers.get(id)
  if (!timer) return
  timers.delete(id)
  unlink(timer)
}

/** Takes the next timer that is due, or undefined; a repeating one is put back while the call that set it is open. */
export function takeDue(nowMs: number): Timer | undefined {
  const timer = earliest
  if (!timer || timer.dueMs > nowMs) return undefined
  unlink(timer)
  if (timer.repeatMs > 0 && (timer.call === 0 || isLive(timer.call))) {
    timer.dueMs = nowMs + timer.repeatMs
    insert(timer)
  } else {
    timers.delete(timer.id)
  }
  return timer
}

/** When the earliest timer is due; 0 when none is set. */
export const earliestDueMs = (): number => earliest?.dueMs ?? 0

export function forEachTimer(visit: (timer: Timer) => void): void {
  for (let timer = earliest; timer; timer = timer.next) visit(timer)
}

function insert(timer: Timer): void {
  let before: Timer | undefined
  let after = earliest
  while (after && after.dueMs <= timer.dueMs) {
    before = after
    after = after.next
  }
  timer.next = after
  if (before) before.next = timer
  else earliest = timer
}

function unlink(timer: Timer): void {
  if (earliest === timer) {
    earliest = timer.next
    return
  }
  let before = earliest
  while (before && before.next !== timer) before = before.next
  if (before) before.next = timer.next
}
