import { join } from 'node:path'

import type { Config } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'
import { mailParserCommand } from '#platform/mail-parser/process-mail-parser.ts'
import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import type { Jail } from '#platform/sandbox-host/isolation/jail.ts'
import { SandboxHosts } from '#platform/sandbox-host/sandbox-hosts.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { openSandboxPrograms } from '#platform/sandbox-host/sandbox-programs.ts'
import type { Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'

interface EarlySandboxDeps {
  readonly config: Pick<Config, 'dataDir' | 'sandbox'>
  readonly logger: Logger
}

/**
 * The sandbox, which starts while the database does: walls are tried, and the first host comes up, before there is anything
 * that its code could call.
 */
export class EarlySandbox implements AsyncDisposable {
  readonly #opening = new AbortController()
  readonly #programs: ReturnType<typeof openSandboxPrograms>
  readonly #jail: Promise<Jail>
  readonly #sandbox: Promise<Sandbox>
  #environment: SandboxEnvironment | undefined

  constructor({ config: { dataDir, sandbox: config }, logger }: EarlySandboxDeps) {
    const cacheDir = join(dataDir, 'cache')
    const { signal } = this.#opening
    this.#programs = openSandboxPrograms(logger)
    this.#jail = this.#programs.then(({ entries }) =>
      openSandboxJail({ config, cacheDir, logger, entries, signal }),
    )
    this.#sandbox = this.#jail.then(async (jail) => {
      const programs = await this.#programs
      const environment: SandboxEnvironment = {
        hostCall: (call) => this.#given.hostCall(call),
        log: (lines) => this.#given.log(lines),
      }
      const { entries } = programs
      const scripts = await programs.scripts()
      return SandboxHosts.open({ config, environment, logger, cacheDir, entries, scripts, jail })
    })
    // The caller that asks for it gets the error.
    this.#sandbox.catch(() => {})
  }

  /** Resolves before the first host takes calls. Rejects where an isolation layer is missing that the configuration requires. */
  async open(environment: SandboxEnvironment): Promise<Sandbox> {
    this.#environment = environment
    return this.#sandbox
  }

  async mailParser(): Promise<HostCommand> {
    return mailParserCommand(await this.#jail, (await this.#programs).mailParser)
  }

  /** Ends it also where it was never asked for. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#opening.abort()
    const [{ status }] = await Promise.allSettled([this.#sandbox])
    if (status === 'fulfilled') await (await this.#sandbox)[Symbol.asyncDispose]()
  }

  get #given(): SandboxEnvironment {
    if (this.#environment === undefined) throw new Error('The sandbox runs code that was not sent')
    return this.#environment
  }
}
