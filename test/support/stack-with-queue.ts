import { connectPostgres, type PostgresPlatform } from '#platform/postgres/postgres.ts'
import { openQueue, type PostgresQueue } from '#platform/queue/postgres-queue.ts'

import { silentLog } from './silent-log.ts'
import { type Stack, startStack } from './stack.ts'

export interface StackWithQueue {
  readonly stack: Stack
  readonly postgres: PostgresPlatform
  readonly queue: PostgresQueue
}

/** A stack that works no jobs, and a queue of the test's own on its database. */
export async function stackWithQueue(cleanUp: AsyncDisposableStack): Promise<StackWithQueue> {
  const stack = cleanUp.use(await startStack({ works: false }))
  const { url } = stack.database
  const postgres = cleanUp.use(await connectPostgres({ url, log: silentLog, poolSize: 4 }))
  const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
  return { stack, postgres, queue }
}
