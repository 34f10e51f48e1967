import type { Chance } from '#test/chance.ts'
import type { ChaosSite } from '#test/chaos-site.ts'
import type { OpenS3Store } from '#test/object-stores.ts'
import { asAdmin } from '#test/postgres.ts'
import type { RunningProcess } from '#test/process-table.ts'
import type { TestRedis } from '#test/redis.ts'
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
  /** Begins it, waits while it lasts, and mends it. */
  run(parts: Parts, lasts: () => Promise<void>): Promise<void>
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
    async run(parts, lasts) {
      process.kill(hostOf(parts).pid, 'SIGKILL')
      await lasts()
    },
  },
  {
    name: 'a host is stopped',
    touches: COMPUTING,
    refusal: AGAIN,
    async run(parts, lasts) {
      process.kill(hostOf(parts).pid, 'SIGSTOP')
      await lasts()
    },
  },
  {
    name: 'Redis hangs',
    touches: NONE,
    refusal: AGAIN,
    async run({ redis }, lasts) {
      redis.freeze()
      await lasts()
      redis.thaw()
    },
  },
  {
    name: 'Redis starts anew',
    touches: NONE,
    refusal: AGAIN,
    async run({ redis }, lasts) {
      await redis.restart()
      await lasts()
    },
  },
  {
    name: 'the database is silent',
    touches: STORING,
    refusal: AGAIN,
    async run({ proxy }, lasts) {
      proxy.fallSilent()
      await lasts()
      proxy.leadElsewhere()
    },
  },
  {
    name: 'connections to the database hang',
    touches: STORING,
    refusal: AGAIN,
    async run({ database }, lasts) {
      const pids = await backendsOf(database)
      signalAll(pids, 'SIGSTOP')
      await lasts()
      signalAll(pids, 'SIGCONT')
    },
  },
  {
    name: 'connections to the database end',
    touches: STORING,
    refusal: AGAIN,
    async run({ database }, lasts) {
      await asAdmin(
        (admin) => admin`
          select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`,
      )
      await lasts()
    },
  },
  {
    name: 'notifications are not heard',
    touches: NONE,
    refusal: AGAIN,
    async run({ proxy }, lasts) {
      proxy.silenceListeners()
      await lasts()
      proxy.letListen()
    },
  },
  {
    name: 'the object store is silent',
    touches: ['putObject', 'headObject'],
    refusal: AGAIN,
    async run({ s3 }, lasts) {
      s3.fallSilent()
      await lasts()
      s3.answerAgain()
    },
  },
  {
    name: 'functions are published',
    touches: NONE,
    refusal: AGAIN,
    async run({ sites, chance }, lasts) {
      for (let count = 0; count < PUBLISHES; count += 1) await chance.oneOf(sites).publish()
      await lasts()
    },
  },
  {
    name: 'a replica is killed',
    touches: [...COMPUTING, ...STORING],
    refusal: CUT,
    run: ({ replicas, chance }, lasts) => replicas.killOne(chance, lasts),
  },
]

function hostOf({ replicas, chance }: Parts): RunningProcess {
  const hosts = replicas.running.flatMap((croft) => croft.sandboxHosts())
  return chance.oneOf(hosts.filter(({ command }) => /^\S*\bnode /.test(command)))
}

async function backendsOf(database: string): Promise<number[]> {
  let pids: number[] = []
  await asAdmin(async (admin) => {
    const rows = await admin<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = ${database}`
    pids = rows.map(({ pid }) => pid)
  })
  return pids
}

function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // Its connection has ended meanwhile.
    }
  }
}
