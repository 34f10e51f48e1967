import { type HttpAnswer, httpCall, jsonCall } from '#bench/http-call.ts'
import { waitUntil } from '#bench/wait-until.ts'

import type { CroftProcess } from './croft-process.ts'

interface ResourceList {
  readonly permissionsSync?: { readonly status: string; readonly error?: string }
}

/** One site of the installation with a token of an admin and one of a visitor. */
export class CroftSite {
  readonly domain: string
  readonly visitorToken: string
  readonly #origin: string
  readonly #adminToken: string

  private constructor(at: { domain: string; origin: string; admin: string; visitor: string }) {
    this.domain = at.domain
    this.#origin = at.origin
    this.#adminToken = at.admin
    this.visitorToken = at.visitor
  }

  static async create(croft: CroftProcess, domain: string): Promise<CroftSite> {
    const email = `ann@${domain}`
    await croft.command('site', 'create', '--domain', domain, '--super-admin', email)
    const token = (pool: string) =>
      croft.command<{ token: string }>('token', '--site', domain, '--user', email, '--pool', pool)
    const [admin, visitor] = await Promise.all([token('admin'), token('data')])
    const { origin } = croft
    return new CroftSite({ domain, origin, admin: admin.token, visitor: visitor.token })
  }

  /** Answers with the function's resource id. */
  async createFunction(name: string, code: string): Promise<string> {
    const body = { type: 'lambdaFunction', name, config: { code } }
    const created = await this.#admin<{ resourceId: string }>('POST', '/admin/data/resources', body)
    return created.resourceId
  }

  async changeFunction(resourceId: string, code: string): Promise<void> {
    await this.#admin('PATCH', `/admin/data/resources/${resourceId}`, { config: { code } })
  }

  /** For visitors with a token only. */
  async createOperation(
    operation: string,
    lambdaResourceId: string,
    ttlSeconds: number,
  ): Promise<void> {
    const auth = { mode: 'authenticated' }
    const body = { operation, lambdaResourceId, auth, cache: { ttlSeconds } }
    await this.#admin('POST', '/admin/data/operations', body)
  }

  /** Until what was changed is what calls are answered from. */
  async synced(): Promise<void> {
    await waitUntil(`permission sync of "${this.domain}"`, async () => {
      const { permissionsSync } = await this.#admin<ResourceList>('GET', '/admin/data/resources')
      if (permissionsSync?.status === 'failed') throw new Error(permissionsSync.error)
      return permissionsSync === undefined || permissionsSync.status === 'succeeded'
    })
  }

  call(operation: string, payload: unknown): Promise<HttpAnswer> {
    return httpCall({
      origin: this.#origin,
      host: this.domain,
      method: 'POST',
      path: `/data/${operation}`,
      token: this.visitorToken,
      body: { payload },
    })
  }

  #admin<Body>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<Body> {
    const [origin, host, token] = [this.#origin, this.domain, this.#adminToken]
    return jsonCall<Body>({ origin, host, method, path, token, body })
  }
}
