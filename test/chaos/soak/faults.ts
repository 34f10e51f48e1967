import type { Chance } from '#test/chance.ts'
import type { ChaosSite } from '#test/chaos-site.ts'
import type { Fault } from '#test/fault-journey.ts'
import type { OpenS3Store } from '#test/object-stores.ts'
import { asAdmin } from '#test/postgres.ts'
import { type RunningProcess, isNode } from '#test/process-table.ts'
import type { TestRedis } from '#test/redis.ts'
import { StoppedBackends } from '#test/stopped-backends.ts'
import type { TcpProxy } from '#test/tcp-proxy.ts'

import { COMPUTING, STORING } from './load.ts'
import type { Replicas } from './replicas.ts'

export interface Parts {
  readonly replicas: Replicas
  readonly sites: readonly ChaosSite[]
  readonly redis: TestRedis
  readonly s3: OpenS3Store
  /** The way to the database. */
  readonly proxy: TcpProxy
  readonly database: string
  readonly chance: Chance
}

export interface SoakFault {
  readonly name: string
  /** The kinds of calls that need what is away: others may not fail. */
  readonly touches: readonly string[]
  /** How such a call may fail. */
  readonly refusal: RegExp
  of(parts: Parts): Fault
}

/** An answer that says to try again. */
const AGAIN = /503|OperationInterrupted/
const NONE: readonly string[] = []
/** The connection ended with the process. */
const CUT = /ECONNRESET|ECONNREFUSED|EPIPE|socket hang up|aborted/
const PUBLISHES = 20

export const FAULTS: readonly SoakFault[] = [
  {
    name: 'a host is killed',
    touches: COMPUTING,
    refusal: AGAIN,
    of: (parts) => ({ begin: () => signal(hostOf(parts), 'SIGKILL') }),
  },
  {
    name: 'a host is stopped',
    touches: COMPUTING,
    refusal: AGAIN,
    of: (parts) => ({ begin: () => signal(hostOf(parts), 'SIGSTOP') }),
  },
  {
    name: 'Redis hangs',
    touches: NONE,
    refusal: AGAIN,
    of: ({ redis }) => ({ begin: () => redis.freeze(), end: () => redis.thaw() }),
  },
  {
    name: 'Redis restarts',
    touches: NONE,
    refusal: AGAIN,
    of: ({ redis }) => ({ begin: () => redis.restart() }),
  },
  {
    name: 'the database is silent',
    touches: STORING,
    refusal: AGAIN,
    of: ({ proxy }) => ({ begin: () => proxy.fallSilent(), end: () => proxy.leadElsewhere() }),
  },
  {
    name: 'connections to the database hang',
    touches: STORING,
    refusal: AGAIN,
    of: ({ database }) => new StoppedBackends(database),
  },
  {
    name: 'connections to the database end',
    touches: STORING,
    refusal: AGAIN,
    of: ({ database }) => ({
      begin: () =>
        asAdmin(
          (admin) => admin`
            select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`,
        ),
    }),
  },
  {
    name: 'notifications are lost',
    touches: NONE,
    refusal: AGAIN,
    of: ({ proxy }) => ({ begin: () => proxy.silenceListeners(), end: () => proxy.letListen() }),
  },
  {
    name: 'the object store is silent',
    touches: ['putObject', 'headObject'],
    refusal: AGAIN,
    of: ({ s3 }) => ({ begin: () => s3.fallSilent(), end: () => s3.answerAgain() }),
  },
  {
    name: 'functions are published',
    touches: NONE,
    refusal: AGAIN,
    of: ({ sites, chance }) => ({
      async begin() {
        for (let count = 0; count < PUBLISHES; count += 1) await chance.oneOf(sites).publish()
      },
    }),
  },
  {
    name: 'a replica is killed',
    touches: [...COMPUTING, ...STORING],
    refusal: CUT,
    of: ({ replicas, chance }) => replicas.lossOfOne(chance),
  },
]

function hostOf({ replicas, chance }: Parts): RunningProcess {
  const hosts = replicas.running.flatMap((croft) => croft.sandboxHosts())
  return chance.oneOf(hosts.filter(isNode))
}

const signal = ({ pid }: RunningProcess, name: NodeJS.Signals): void => void process.kill(pid, name)
