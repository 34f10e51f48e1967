import type { Tenant } from '#bench/load/load-plan.ts'

/** Something that runs and answers the same JSON job, ready to be measured. */
export interface Subject {
  readonly name: SubjectName
  readonly origin: string
  /** Root of its process tree: its CPU time is that of all below it. */
  readonly pid: number
  readonly tenants: readonly Tenant[]
}

export type SubjectName = (typeof SUBJECTS)[number]

/** In the order in which each round takes them. */
export const SUBJECTS = ['elysia-echo', 'workerd', 'cached', 'warm', 'warm-10-sites'] as const
