import type { Answer } from '#test/http-client.ts'
import { portalOf } from '#test/operator.ts'

import type { Installation } from './installation.ts'

/** An answer takes less, whatever runs beside it, or is counted as none. */
const UNANSWERED_MS = 60_000

/** A site of the soak, by its admin's routes and its visitors' calls. Tokens live shorter than a soak: they are renewed. */
export class SoakSite {
  readonly domain: string
  readonly #installation: Installation
  readonly #functions = new Map<string, string>()
  #token = { text: '', untilMs: 0 }

  private constructor(installation: Installation, domain: string) {
    this.#installation = installation
    this.domain = domain
  }

  static async create(installation: Installation, domain: string): Promise<SoakSite> {
    await portalOf(installation.croft).createSite(domain)
    return new SoakSite(installation, domain)
  }

  /** A public operation on a function of the same name; `config` is more of the function's, `binding` of the operation's. */
  async publish(
    operation: string,
    code: string,
    config: object = {},
    binding: object = {},
  ): Promise<void> {
    const made = await this.admin('POST', '/resources', {
      type: 'lambdaFunction',
      name: operation,
      config: { code, timeoutSeconds: 10, ...config },
    })
    const { resourceId } = succeeded(made).json
    this.#functions.set(operation, resourceId)
    const auth = { mode: 'public' }
    const body = { operation, lambdaResourceId: resourceId, auth, ...binding }
    succeeded(await this.admin('POST', '/operations', body))
  }

  async createTable(name: string): Promise<string> {
    const config = { partitionKey: { name: 'k', type: 'S' } }
    const made = await this.admin('POST', '/resources', { type: 'ddbTable', name, config })
    return succeeded(made).json.resourceId
  }

  /** The answer may be a refusal. */
  change(operation: string, code: string): Promise<Answer> {
    const path = `/resources/${this.#functions.get(operation) ?? ''}`
    return this.admin('PATCH', path, { config: { code } })
  }

  async admin(method: string, path: string, body: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.#adminToken()}` }
    return this.#send({ method, path: `/admin/data${path}`, headers, body })
  }

  call(operation: string, payload: unknown = null): Promise<Answer> {
    return this.#send({ method: 'POST', path: `/data/public/${operation}`, body: { payload } })
  }

  async #adminToken(): Promise<string> {
    if (performance.now() > this.#token.untilMs) {
      const portal = portalOf(this.#installation.croft)
      const text = await portal.token(this.domain, `ann@${this.domain}`)
      this.#token = { text, untilMs: performance.now() + 4 * 60_000 }
    }
    return this.#token.text
  }

  #send(call: { method: string; path: string; headers?: Record<string, string>; body: object }) {
    const signal = AbortSignal.timeout(UNANSWERED_MS)
    return this.#installation.croft.call({ host: this.domain, ...call, signal })
  }
}

function succeeded(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`)
  return answer
}
