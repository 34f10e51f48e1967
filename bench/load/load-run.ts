import { Connection } from './connection.ts'
import { Histogram } from './histogram.ts'
import {
  type Expectation,
  type LoadPlan,
  type Tenant,
  checkLoadPlan,
  loopbackAddress,
  readBytes,
  requestBytes,
} from './load-plan.ts'
import { type Pacer, closedLoop, openLoop } from './pacer.ts'
import type { ParsedResponse } from './response-parser.ts'
import { type LatencySummary, Tally, type TallySummary, summarize } from './tally.ts'

/** Of so many responses to a tenant, one has its text looked at. */
const SAMPLE_EVERY = 64
const SWEEP_MS = 50
const RECONNECT_MS = 20

export interface LoadReport {
  /** Of the measured part, until its last answer. */
  readonly seconds: number
  readonly succeededPerSecond: number
  readonly total: TallySummary
  readonly tenants: readonly TallySummary[]
  /** How late the generator itself sent what was due while a connection was free: large means that it was the bottleneck. */
  readonly ownDelayMs: LatencySummary
  /** The first answer that was not as expected, cut short. */
  readonly firstFault: string | undefined
}

export interface LoadEvents {
  /** The warm-up is over. */
  measuring?(): void
}

interface Target {
  readonly requests: readonly Buffer[]
  readonly expect: Expectation
  readonly tally: Tally
  sent: number
}

interface Slot {
  readonly connection: Connection
  target: Target | undefined
  intendedMs: number
  sentMs: number
  freeSinceMs: number
}

/** Sends the load that the plan names and answers with what was measured. */
export function runLoad(plan: LoadPlan, events: LoadEvents = {}): Promise<LoadReport> {
  checkLoadPlan(plan)
  return new LoadRun(plan, events).run()
}

class LoadRun {
  readonly #plan: LoadPlan
  readonly #events: LoadEvents
  readonly #targets: readonly Target[]
  readonly #slots: readonly Slot[]
  readonly #free: Slot[] = []
  readonly #total = new Tally('all')
  readonly #ownDelay = new Histogram()
  readonly #done = Promise.withResolvers<void>()
  readonly #startMs = performance.now()
  readonly #measureMs: number
  readonly #endMs: number
  readonly #pacer: Pacer
  #nextTarget = 0
  #busy = 0
  #lastAnswerMs = 0
  #firstFault: string | undefined
  #wakeUp: NodeJS.Timeout | undefined

  constructor(plan: LoadPlan, events: LoadEvents) {
    this.#plan = plan
    this.#events = events
    this.#measureMs = this.#startMs + plan.warmupMs
    this.#endMs = this.#measureMs + plan.durationMs
    const window = { startMs: this.#startMs, lengthMs: plan.warmupMs + plan.durationMs }
    this.#pacer =
      plan.ratePerSecond === undefined ? closedLoop(window) : openLoop(window, plan.ratePerSecond)
    this.#targets = plan.tenants.map(targetOf)
    const address = loopbackAddress(plan.origin)
    this.#slots = Array.from({ length: plan.connections }, () => this.#slot(address))
  }

  async run(): Promise<LoadReport> {
    const measuring = setTimeout(() => this.#events.measuring?.(), this.#plan.warmupMs)
    const sweep = setInterval(() => this.#sweep(performance.now()), SWEEP_MS)
    for (const { connection } of this.#slots) connection.open()
    await this.#done.promise
    clearTimeout(measuring)
    clearInterval(sweep)
    clearTimeout(this.#wakeUp)
    for (const { connection } of this.#slots) connection.close()
    return this.#report()
  }

  #slot(address: { host: string; port: number }): Slot {
    const slot: Slot = {
      connection: new Connection(address, {
        ready: () => this.#ready(slot),
        answered: (response) => this.#answered(slot, response),
        failed: (kind) => this.#failed(slot, kind),
      }),
      target: undefined,
      intendedMs: 0,
      sentMs: 0,
      freeSinceMs: 0,
    }
    return slot
  }

  #ready(slot: Slot): void {
    slot.freeSinceMs = performance.now()
    this.#free.push(slot)
    this.#dispatch(slot.freeSinceMs)
  }

  #dispatch(nowMs: number): void {
    while (this.#free.length > 0) {
      const intendedMs = this.#pacer.take(nowMs)
      if (intendedMs === undefined) break
      const slot = this.#free.pop()
      if (slot !== undefined) this.#send(slot, intendedMs, nowMs)
    }
    this.#sleep(nowMs)
  }

  #sleep(nowMs: number): void {
    const dueMs = this.#pacer.nextDueMs()
    if (dueMs === undefined || this.#wakeUp !== undefined || this.#free.length === 0) return
    this.#wakeUp = setTimeout(
      () => {
        this.#wakeUp = undefined
        this.#dispatch(performance.now())
      },
      Math.max(0, dueMs - nowMs),
    )
  }

  #send(slot: Slot, intendedMs: number, nowMs: number): void {
    const target = this.#targets[this.#nextTarget]
    this.#nextTarget = (this.#nextTarget + 1) % this.#targets.length
    const request = target?.requests[target.sent % target.requests.length]
    if (target === undefined || request === undefined) return
    slot.target = target
    slot.intendedMs = intendedMs
    slot.sentMs = nowMs
    if (this.#measured(slot)) {
      this.#ownDelay.record((nowMs - Math.max(intendedMs, slot.freeSinceMs)) * 1000)
    }
    this.#busy += 1
    slot.connection.send(request, target.sent % SAMPLE_EVERY === 0)
    target.sent += 1
  }

  #answered(slot: Slot, response: ParsedResponse): void {
    const target = this.#release(slot)
    if (target === undefined || !this.#measured(slot)) return
    const fault = faultOf(response, target.expect)
    if (fault !== undefined) this.#firstFault ??= `${fault}: ${response.body?.slice(0, 300) ?? ''}`
    this.#lastAnswerMs = performance.now()
    target.tally.answered(this.#lastAnswerMs - slot.intendedMs, fault)
    this.#total.answered(this.#lastAnswerMs - slot.intendedMs, fault)
  }

  #failed(slot: Slot, kind: string): void {
    const free = this.#free.indexOf(slot)
    if (free !== -1) this.#free.splice(free, 1)
    const target = this.#release(slot)
    if (target !== undefined && this.#measured(slot)) {
      target.tally.failed(kind)
      this.#total.failed(kind)
    } else if (target === undefined && free === -1) this.#total.failed(kind)
    if (performance.now() < this.#endMs) setTimeout(() => slot.connection.open(), RECONNECT_MS)
  }

  #release(slot: Slot): Target | undefined {
    const { target } = slot
    if (target !== undefined) this.#busy -= 1
    slot.target = undefined
    return target
  }

  #measured(slot: Slot): boolean {
    return slot.intendedMs >= this.#measureMs
  }

  /** Gives up on late answers; ends the run when nothing is on its way and nothing is due, or patience is over. */
  #sweep(nowMs: number): void {
    for (const slot of this.#slots) {
      const waiting = slot.target !== undefined
      if (waiting && nowMs - slot.sentMs > this.#plan.timeoutMs) slot.connection.abort('Timeout')
    }
    if (nowMs < this.#endMs) return
    const unsent = this.#pacer.overdue(nowMs)
    if (this.#busy === 0 && unsent === 0) this.#done.resolve()
    else if (nowMs > this.#endMs + this.#plan.timeoutMs) {
      if (unsent > 0) this.#total.failed('NeverSent', unsent)
      if (this.#busy > 0) this.#total.failed('Timeout', this.#busy)
      this.#done.resolve()
    }
  }

  #report(): LoadReport {
    const total = this.#total.summary()
    const seconds = Math.max(this.#lastAnswerMs - this.#measureMs, this.#plan.durationMs) / 1000
    return {
      seconds,
      succeededPerSecond: total.succeeded / seconds,
      total,
      tenants: this.#targets.map(({ tally }) => tally.summary()),
      ownDelayMs: summarize(this.#ownDelay),
      firstFault: this.#firstFault,
    }
  }
}

const targetOf = (tenant: Tenant): Target => ({
  requests: [
    ...tenant.bodies.map((body) => requestBytes(tenant, body)),
    ...(tenant.reads ?? []).map((path) => readBytes(tenant, path)),
  ],
  expect: tenant.expect,
  tally: new Tally(tenant.host),
  sent: 0,
})

function faultOf(response: ParsedResponse, expect: Expectation): string | undefined {
  if (response.status !== expect.status) return `Status${response.status}`
  if (expect.bodyBytes !== undefined && response.bodyBytes !== expect.bodyBytes) {
    return 'WrongBodyLength'
  }
  const { includes } = expect
  const wrong =
    includes !== undefined && response.body !== undefined && !response.body.includes(includes)
  return wrong ? 'WrongBody' : undefined
}
