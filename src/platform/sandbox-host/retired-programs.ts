import type { PendingCall } from './pending-call.ts'
import type { Program } from './sandbox.ts'
import type { SiteQueues } from './site-queues.ts'
import type { WorkerConnection } from './worker-connection.ts'

/**
 * Programs that a newer revision has taken the place of. A call that was admitted before and is sent to a worker afterwards
 * makes a new isolate of the old program there, which nobody else would drop.
 */
export class RetiredPrograms {
  /** By object: the same key may come back with another one. */
  readonly #programs = new WeakSet<Program>()
  readonly #queues: Pick<SiteQueues, 'isFollowed'>
  readonly #workers: () => ReadonlySet<WorkerConnection>

  constructor(
    queues: Pick<SiteQueues, 'isFollowed'>,
    workers: () => ReadonlySet<WorkerConnection>,
  ) {
    this.#queues = queues
    this.#workers = workers
  }

  add(program: Program): void {
    this.#programs.add(program)
  }

  /** After a call's last word: drops its program wherever nothing of it runs, unless more of it waits. Gives the other workers. */
  ended(worker: WorkerConnection, call: PendingCall): WorkerConnection[] {
    const { program } = call
    if (!this.#programs.has(program) || this.#queues.isFollowed(call)) return []
    const done = [...this.#workers()].filter((each) => !isRunning(each, program))
    for (const each of done) each.forget(program.key)
    return done.filter((each) => each !== worker)
  }
}

function isRunning({ activeCalls }: WorkerConnection, program: Program): boolean {
  for (const call of activeCalls.values()) if (call.program === program) return true
  return false
}
