import { parseArgs } from 'node:util'

import { hostMemoryMbOf, sandboxMemoryMbOf, warmIsolatesOf } from '#config/load.ts'

import type { Plan, Routing } from './simulation.ts'

const GIB = 2 ** 30
/** Hosts that replicas have by themselves: one is for calls that take longer. */
const LEAST_HOSTS = 2
const DRAWS = 400_000

export const USAGE = `npm run simulate -- [--sites N] [--replicas N,N,…] [--routing any|by-host|both] [--exponent X]
    [--calls-per-second N] [--publishes-per-second N] [--cpus N] [--memory GB] [--seed N]

Places that many sites on that many replicas, each of a machine of that size with the settings that it chooses itself, and sends calls
to them as a proxy would: few sites get most of them (--exponent, see "Zipf"). Prints what a replica has in memory, how many calls find
no isolate, what all of them cost, which replicas receive a publish, and the connections to PostgreSQL. What goes in was measured: see docs/explanation/scale.md.
--write runs what docs/explanation/scale.md shows again, and writes it there.`

export interface Options {
  readonly plans: readonly Plan[]
  readonly help: boolean
  readonly write: boolean
}

/** Throws a `TypeError` that says what is wrong. */
export function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      sites: { type: 'string', default: '100000' },
      replicas: { type: 'string', default: '3,6,12,24' },
      routing: { type: 'string', default: 'both' },
      exponent: { type: 'string', default: '1' },
      'calls-per-second': { type: 'string', default: '2000' },
      'publishes-per-second': { type: 'string', default: '1' },
      cpus: { type: 'string', default: '4' },
      memory: { type: 'string', default: '16' },
      seed: { type: 'string', default: '1' },
    },
  })
  const machine = machineOf(number(values, 'cpus'), number(values, 'memory'))
  const shared = {
    ...machine,
    sites: number(values, 'sites'),
    callsPerSecond: number(values, 'calls-per-second'),
    publishesPerSecond: number(values, 'publishes-per-second'),
    exponent: number(values, 'exponent'),
    calls: DRAWS,
    seed: number(values, 'seed'),
  }
  const counts = values.replicas.split(',').map((text) => number({ replicas: text }, 'replicas'))
  const plans = routingsOf(values.routing).flatMap((routing) =>
    counts.map((replicas) => ({ ...shared, replicas, routing })),
  )
  return { plans, help: values.help, write: values.write }
}

/** What a replica chooses for such a machine. */
function machineOf(cpus: number, memoryGib: number): Pick<Plan, 'hosts' | 'warmIsolates'> {
  const hostMemoryMb = hostMemoryMbOf(sandboxMemoryMbOf(memoryGib * GIB))
  const hosts = Math.max(LEAST_HOSTS, cpus - 1) - 1
  const together = warmIsolatesOf(sandboxMemoryMbOf(memoryGib * GIB))
  const warmIsolates = Math.min(warmIsolatesOf(hostMemoryMb), Math.floor(together / hosts))
  return { hosts, warmIsolates }
}

function routingsOf(text: string): readonly Routing[] {
  if (text === 'both') return ['any', 'by-host']
  if (text === 'any' || text === 'by-host') return [text]
  throw new TypeError(`--routing is any, by-host or both, not "${text}"`)
}

function number(values: Readonly<Record<string, unknown>>, name: string): number {
  const value = Number(values[name])
  if (Number.isFinite(value) && value > 0) return value
  throw new TypeError(`--${name} is a number above 0, not "${String(values[name])}"`)
}
