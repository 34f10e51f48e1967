import type { Fault } from './fault-journey.ts'
import { asAdmin } from './postgres.ts'

/** Stops the server's processes for the connections that a database has by then. */
export class StoppedBackends implements Fault {
  readonly #database: string
  pids: readonly number[] = []

  constructor(database: string) {
    this.#database = database
  }

  async begin(): Promise<void> {
    await asAdmin(async (admin) => {
      const rows = await admin<{ pid: number }[]>`
        select pid from pg_stat_activity where datname = ${this.#database}`
      this.pids = rows.map(({ pid }) => pid)
    })
    this.#signal('SIGSTOP')
  }

  end(): void {
    this.#signal('SIGCONT')
  }

  #signal(name: NodeJS.Signals): void {
    for (const pid of this.pids) {
      try {
        process.kill(pid, name)
      } catch {
        // Its connection has ended.
      }
    }
  }
}
