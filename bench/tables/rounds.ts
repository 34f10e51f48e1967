import { median } from '#bench/median.ts'

import { closedLoop, type Round } from './closed-loop.ts'
import type { Contender } from './contender.ts'

export const OPERATIONS = ['get', 'put', 'query'] as const
export type Operation = (typeof OPERATIONS)[number]

export interface RoundOptions {
  readonly rounds: number
  readonly roundMs: number
  readonly callers: readonly number[]
}

/** What each contender did in each round, by operation and number of callers. */
export class Rounds {
  readonly #rounds = new Map<string, Round[]>()

  add(of: Measured, round: Round): void {
    const key = keyOf(of)
    this.#rounds.set(key, [...(this.#rounds.get(key) ?? []), round])
  }

  /** Median over the rounds; NaN for what was not measured. */
  figure(of: Measured, figure: keyof Round): number {
    return median((this.#rounds.get(keyOf(of)) ?? []).map((round) => round[figure]))
  }

  /** Median of what one was to the other within a round: what moves both cancels out. */
  ratio(of: Measured, against: string, figure: keyof Round): number {
    const others = this.#rounds.get(keyOf({ ...of, name: against })) ?? []
    const own = this.#rounds.get(keyOf(of)) ?? []
    return median(own.map((round, at) => round[figure] / (others[at]?.[figure] ?? Number.NaN)))
  }
}

export interface Measured {
  readonly name: string
  readonly operation: Operation
  readonly callers: number
}

/** Measures the subjects in turn, round by round, after one round that does not count. */
export async function measure(
  contenders: readonly Contender[],
  { rounds, roundMs, callers }: RoundOptions,
): Promise<Rounds> {
  const measured = new Rounds()
  for (let round = 0; round <= rounds; round += 1) {
    for (const count of callers) {
      for (const operation of OPERATIONS) {
        for (const contender of contenders) {
          const call = contender[operation]
          if (call === undefined) continue
          const done = await closedLoop(call, count, roundMs)
          if (round > 0) measured.add({ name: contender.name, operation, callers: count }, done)
        }
      }
    }
  }
  return measured
}

const keyOf = ({ name, operation, callers }: Measured): string => `${name} ${operation} ${callers}`
