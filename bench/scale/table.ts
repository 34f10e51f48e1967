import { columns } from '#bench/load/load-table.ts'

import type { Measured } from './measured.ts'
import { type Outcome, type Plan, simulate } from './simulation.ts'

const HEADINGS = [
  'routing',
  'replicas',
  'known',
  'warm',
  'MB',
  'cold %',
  'cold/s',
  'cores',
  'reads/s',
  'notified/s',
  'heeded %',
  'connections',
] as const

/** A line for each plan. Known and warm sites and megabytes are those of the fullest replica; the rest is of all of them. */
export const tableOf = (plans: readonly Plan[], measured: Measured): string =>
  columns([[...HEADINGS], ...plans.map((plan) => rowOf(plan, simulate(plan, measured)))])

const rowOf = ({ routing, replicas }: Plan, outcome: Outcome): string[] => [
  routing,
  String(replicas),
  String(outcome.knownSites),
  String(outcome.warmSites),
  outcome.memoryMb.toFixed(0),
  (outcome.coldShare * 100).toFixed(1),
  outcome.coldPerSecond.toFixed(0),
  outcome.cores.toFixed(1),
  outcome.transactionsPerSecond.toFixed(0),
  outcome.notificationsPerSecond.toFixed(0),
  (outcome.heededShare * 100).toFixed(0),
  String(outcome.connections),
]
