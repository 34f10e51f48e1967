import { vi } from 'vitest'

const PATIENCE = { timeout: 60_000, interval: 5 }

type Begun = readonly ('flood' | 'single')[]

export interface SharedQueue {
  /** Queues many jobs of one site; resolves when they wait. */
  readonly flood: () => Promise<unknown>
  /** Queues one job of another site. */
  readonly single: () => Promise<unknown>
  /** Whose jobs have begun so far, in their order. */
  readonly begun: () => Begun | Promise<Begun>
  /** How many jobs the flood has. */
  readonly floodSize: number
}

/**
 * One site floods a queue, and another site's single job comes behind it: how many jobs of the flood begin after that and before
 * the single one. Throws when most of the flood was over by then, since a queue without turns would give the same number.
 */
export async function jobsAhead({ flood, single, begun, floodSize }: SharedQueue): Promise<number> {
  await flood()
  await vi.waitUntil(async () => (await begun()).length > 0, PATIENCE)
  const before = (await begun()).length
  await single()
  await vi.waitUntil(async () => (await begun()).includes('single'), PATIENCE)
  const place = (await begun()).indexOf('single')
  if (place > floodSize / 2) throw new Error(`The single job began after ${place} of ${floodSize}`)
  return Math.max(0, place - before)
}
