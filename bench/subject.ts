import type { Tenant } from '#bench/load/load-plan.ts'

/** Something that runs and answers one of the workloads, ready to be measured. */
export interface Subject {
  readonly name: SubjectName
  readonly origin: string
  /** Root of its process tree: its CPU time is that of all below it. */
  readonly pid: number
  /** Processes that are part of it, beside that tree. */
  readonly alsoPids?: readonly number[]
  readonly tenants: readonly Tenant[]
}

/** Whether any of these is to be measured. */
export type IsWanted = (...names: readonly SubjectName[]) => boolean

interface Row {
  readonly words: string
  readonly workload: Workload
}

interface WorkloadPlan {
  readonly words: string
  readonly connections: readonly number[]
  /** What the rates of the others are compared with. */
  readonly base: SubjectName
}

export type Workload = 'job' | 'sites' | '20kb' | '1mb' | 'host-calls'

/** Everything that is measured, in the order in which each round takes it. */
const ROWS = {
  bun: { words: 'Bun.serve, bare', workload: 'job' },
  deno: { words: 'Deno.serve, bare', workload: 'job' },
  'elysia-echo': { words: 'Elysia on Bun, bare', workload: 'job' },
  workerd: { words: 'workerd', workload: 'job' },
  'workerd-per-core': { words: 'workerd, one process per core', workload: 'job' },
  cached: { words: 'Croft, cached operation', workload: 'job' },
  warm: { words: 'Croft, warm operation', workload: 'job' },
  'workerd-10': { words: 'workerd, 10 workers', workload: 'sites' },
  'warm-10-sites': { words: 'Croft, warm, 10 sites', workload: 'sites' },
  'workerd-100': { words: 'workerd, 100 workers', workload: 'sites' },
  'warm-100-sites': { words: 'Croft, warm, 100 sites', workload: 'sites' },
  'bun-20kb': { words: 'Bun.serve, bare', workload: '20kb' },
  'workerd-20kb': { words: 'workerd', workload: '20kb' },
  'warm-20kb': { words: 'Croft, warm operation', workload: '20kb' },
  'bun-1mb': { words: 'Bun.serve, bare', workload: '1mb' },
  'workerd-1mb': { words: 'workerd', workload: '1mb' },
  'warm-1mb': { words: 'Croft, warm operation', workload: '1mb' },
  'workerd-subrequest': { words: 'workerd, one subrequest', workload: 'host-calls' },
  'table-get': { words: 'Croft, one ctx.table.get', workload: 'host-calls' },
  fetch: { words: 'Croft, one fetch', workload: 'host-calls' },
} as const satisfies Readonly<Record<string, Row>>

export type SubjectName = keyof typeof ROWS

export const SUBJECT_ROWS: Readonly<Record<SubjectName, Row>> = ROWS
export const SUBJECTS = Object.keys(ROWS) as readonly SubjectName[]

export const WORKLOADS: Readonly<Record<Workload, WorkloadPlan>> = {
  job: { words: 'A small JSON job', connections: [1, 32, 256], base: 'workerd' },
  sites: { words: 'The same job on many sites', connections: [32, 256], base: 'workerd' },
  '20kb': { words: '20 KB in, 20 KB out', connections: [32], base: 'workerd-20kb' },
  '1mb': { words: '1 MB in, 1 MB out', connections: [8], base: 'workerd-1mb' },
  'host-calls': { words: 'One call of the host', connections: [1, 32], base: 'workerd-subrequest' },
}
export const WORKLOAD_NAMES = Object.keys(WORKLOADS) as readonly Workload[]
