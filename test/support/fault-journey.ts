import { setTimeout as delay } from 'node:timers/promises'

import { CallLog, type Span } from './call-log.ts'
import { ChaosSite } from './chaos-site.ts'
import type { CroftProcess } from './croft-process.ts'

const BEFORE_MS = 3000
const AWAY_MS = 10_000
const AFTER_MS = 5000

export interface Fault {
  begin(): void | Promise<void>
  /** What mends itself has none. */
  end?(): void | Promise<void>
}

export interface FaultJourney {
  readonly log: CallLog
  /** The time in which something was away. */
  readonly away: Required<Omit<Span, 'kind'>>
  /** What `/readyz` said at the end of it. */
  readonly readiness: unknown
  /** What two sites had acknowledged and do not have any more. */
  readonly missing: readonly string[]
}

/** Works with two sites before, during and after a fault. */
export async function workThrough(
  croft: CroftProcess,
  operatorKey: string,
  fault: Fault,
): Promise<FaultJourney> {
  const sites: ChaosSite[] = []
  for (const domain of ['one.test', 'two.test']) {
    sites.push(await ChaosSite.create(croft, operatorKey, domain))
  }
  const log = new CallLog()
  const over = new AbortController()
  const work = Promise.all([
    ...sites.flatMap((site) => [
      log.repeat('echo', over.signal, () => site.echo()),
      log.repeat('recall', over.signal, () => site.recall()),
      log.repeat('keep', over.signal, () => site.keep()),
      log.repeat('find', over.signal, () => site.find()),
      log.repeat('putItem', over.signal, () => site.putItem()),
    ]),
    log.repeat('readyz', over.signal, () => croft.call({ path: '/readyz' })),
  ])
  await delay(BEFORE_MS)
  const fromMs = performance.now()
  await fault.begin()
  await delay(AWAY_MS)
  const readiness: unknown = (await croft.call({ path: '/readyz' })).json
  const toMs = performance.now()
  await fault.end?.()
  await delay(AFTER_MS)
  over.abort()
  await work
  const missing = (await Promise.all(sites.map((site) => site.missing()))).flat()
  return { log, away: { fromMs, toMs }, readiness, missing }
}
