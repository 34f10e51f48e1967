import { join } from 'node:path'

import type { Chance } from '#test/chance.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import type { Fault } from '#test/fault-journey.ts'
import { memoryMib } from '#test/process-memory.ts'

const COUNT = 2

/** Replicas on one database, one Redis and one object store, behind a way in that leaves out one that is away. */
export class Replicas implements AsyncDisposable {
  readonly #options: { readonly folder: string; readonly env: Readonly<Record<string, string>> }
  readonly #ports: number[] = []
  readonly #all: (CroftProcess | undefined)[] = []

  private constructor(options: { folder: string; env: Readonly<Record<string, string>> }) {
    this.#options = options
  }

  static async start(options: {
    folder: string
    env: Readonly<Record<string, string>>
  }): Promise<Replicas> {
    const replicas = new Replicas(options)
    for (let at = 0; at < COUNT; at += 1) {
      replicas.#ports.push(await freePort())
      await replicas.#start(at)
    }
    return replicas
  }

  get running(): CroftProcess[] {
    return this.#all.filter((one) => one !== undefined)
  }

  /** What only they use, of memory, in MiB: what several share is divided among those that share it. */
  memoryMib(): number {
    return this.running.reduce((sum, croft) => sum + memoryMib(croft), 0)
  }

  /** SIGKILL to the service of one of them, which is started again at the end. */
  lossOfOne(chance: Chance): Fault {
    const at = chance.below(COUNT)
    return {
      begin: async () => {
        const croft = this.#all[at]
        this.#all[at] = undefined
        await croft?.kill()
        await croft?.[Symbol.asyncDispose]()
      },
      end: () => this.#start(at),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const croft of this.running) await croft[Symbol.asyncDispose]()
  }

  async #start(at: number): Promise<void> {
    const { folder, env } = this.#options
    const dataDir = join(folder, `replica-${at}`)
    const port = this.#ports[at] ?? 0
    this.#all[at] = await CroftProcess.start({ dataDir, env, port })
  }
}
