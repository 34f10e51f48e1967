import { type HttpAnswer, httpCall, jsonCall } from '#bench/http-call.ts'
import { waitUntil } from '#bench/wait-until.ts'

import type { CroftProcess } from './croft-process.ts'

interface ResourceList {
  readonly permissionsSync?: { readonly status: string; readonly error?: string }
}

interface Grant {
  readonly resourceId: string
  readonly access: 'read'
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
    const { origin, operatorKey } = croft
    const user = `ann@${domain}`
    const operator = <Body>(path: string, body: unknown) =>
      jsonCall<Body>({ origin, host: domain, method: 'POST', path, token: operatorKey, body })
    await operator('/portal/api/sites', { domain, superAdmins: [user] })
    const tokenOf = (pool: string) =>
      operator<{ token: string }>(`/portal/api/sites/${domain}/tokens`, { user, pool })
    const [admin, visitor] = await Promise.all([tokenOf('admin'), tokenOf('data')])
    return new CroftSite({ domain, origin, admin: admin.token, visitor: visitor.token })
  }

  /** Answers with the function's resource id. */
  async createFunction(
    name: string,
    code: string,
    resources: readonly Grant[] = [],
  ): Promise<string> {
    return this.#create({ type: 'lambdaFunction', name, config: { code, resources } })
  }

  /** Answers with the table's resource id. */
  createTable(name: string, partitionKey: string): Promise<string> {
    const config = { partitionKey: { name: partitionKey, type: 'S' } }
    return this.#create({ type: 'ddbTable', name, config })
  }

  async putItem(tableId: string, item: object): Promise<void> {
    await this.#admin('POST', `/admin/data/resources/${tableId}/data/ddb/put`, { item })
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

  /** Until what was changed answers calls of that operation. */
  async answering(operation: string, payload: unknown): Promise<void> {
    await this.synced()
    await waitUntil(`answer of "${operation}" on "${this.domain}"`, async () => {
      const { status, text } = await this.call(operation, payload)
      if (status !== 200 && status !== 503)
        throw new Error(`${operation} answered ${status}: ${text}`)
      return status === 200
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

  async #create(body: object): Promise<string> {
    const created = await this.#admin<{ resourceId: string }>('POST', '/admin/data/resources', body)
    return created.resourceId
  }

  #admin<Body>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<Body> {
    const [origin, host, token] = [this.#origin, this.domain, this.#adminToken]
    return jsonCall<Body>({ origin, host, method, path, token, body })
  }
}
