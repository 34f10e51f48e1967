import { type Static, Type } from '@sinclair/typebox'

/** When a deployment is rolled back automatically. */
export const AutoRollback = Type.Object({
  enabled: Type.Boolean(),
  /** The share of calls that fail above which it is rolled back. */
  failurePercent: Type.Integer({ minimum: 1, maximum: 99 }),
  /** Fewer calls than that say nothing. */
  minCalls: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
})
export type AutoRollback = Static<typeof AutoRollback>

export interface CallCounts {
  readonly calls: number
  readonly failures: number
}

export const exceeds = (
  { calls, failures }: CallCounts,
  { enabled, failurePercent, minCalls }: AutoRollback,
): boolean => enabled && calls >= minCalls && failures * 100 > calls * failurePercent
