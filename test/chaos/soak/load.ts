import { setTimeout as delay } from 'node:timers/promises'

import type { CallLog } from '#test/call-log.ts'
import type { Chance } from '#test/chance.ts'
import type { ChaosSite } from '#test/chaos-site.ts'

import type { Replicas } from './replicas.ts'

const TICK_MS = 10
/** More than that at once would measure this process. */
const AT_ONCE = 4000

/** Of a hundred calls. */
const SHARES = {
  echo: 40,
  recall: 20,
  keep: 12,
  find: 12,
  putItem: 6,
  putObject: 5,
  headObject: 5,
} as const
export type CallKind = keyof typeof SHARES

/** Those that need the database. */
export const STORING: readonly CallKind[] = ['keep', 'find', 'putItem', 'putObject', 'headObject']
/** Those that need a sandbox. */
export const COMPUTING: readonly CallKind[] = ['echo', 'recall', 'keep', 'find']

export interface LoadDeps {
  readonly sites: readonly ChaosSite[]
  readonly replicas: Replicas
  readonly log: CallLog
  readonly chance: Chance
  readonly perSecond: number
}

/** Calls at a fixed rate, however long the answers take. */
export class Load {
  /** Calls that were due and not made because so many were open. */
  left = 0
  readonly #deps: LoadDeps
  readonly #kinds: readonly CallKind[] = kindsByShare()
  #open = 0

  constructor(deps: LoadDeps) {
    this.#deps = deps
  }

  /** Until then, and until the last call is answered. */
  async run(ends: AbortSignal): Promise<void> {
    const { perSecond } = this.#deps
    const fromMs = performance.now()
    for (let made = 0; !ends.aborted;) {
      const due = Math.floor(((performance.now() - fromMs) / 1000) * perSecond)
      for (; made < due; made += 1) this.#call()
      await delay(TICK_MS)
    }
    while (this.#open > 0) await delay(TICK_MS)
  }

  #call(): void {
    const { sites, replicas, log, chance } = this.#deps
    if (this.#open >= AT_ONCE) {
      this.left += 1
      return
    }
    const site = chance.oneOf(sites)
    const kind = chance.oneOf(this.#kinds)
    site.moveTo(chance.oneOf(replicas.running))
    this.#open += 1
    void log.record(kind, () => site[kind]()).finally(() => (this.#open -= 1))
  }
}

function kindsByShare(): CallKind[] {
  const kinds = Object.keys(SHARES) as CallKind[]
  return kinds.flatMap((kind) => Array.from({ length: SHARES[kind] }, () => kind))
}
