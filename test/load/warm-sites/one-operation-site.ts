import { httpCall, jsonCall } from '#bench/http-call.ts'
import type { Tenant } from '#bench/load/load-plan.ts'
import { waitUntil } from '#bench/wait-until.ts'

const OPERATION = 'greet'
const CODE = `let calls = 0
export default ({ payload, site }) => ({ site: site.siteDomain, hello: payload.name, calls: ++calls })`
const BODY = { payload: { name: 'Ada', n: 41 } }

interface SiteOptions {
  readonly origin: string
  readonly operatorKey: string
  readonly domain: string
}

interface ResourceList {
  readonly permissionsSync?: { readonly status: string; readonly error?: string }
}

/** A site with a small public function, made over the wire. */
export class OneOperationSite {
  readonly #origin: string
  readonly #domain: string

  private constructor({ origin, domain }: SiteOptions) {
    this.#origin = origin
    this.#domain = domain
  }

  /** Resolves when its first call can be answered; no call has been made until then. */
  static async create(options: SiteOptions): Promise<OneOperationSite> {
    const { origin, operatorKey, domain } = options
    const operator = <Body>(path: string, body: unknown) =>
      jsonCall<Body>({ origin, host: domain, method: 'POST', path, token: operatorKey, body })
    const user = `ann@${domain}`
    await operator('/portal/api/sites', { domain, superAdmins: [user] })
    const { token } = await operator<{ token: string }>(`/portal/api/sites/${domain}/tokens`, {
      user,
    })
    const admin = <Body>(method: 'GET' | 'POST', path: string, body?: unknown) =>
      jsonCall<Body>({ origin, host: domain, method, path: `/admin/data${path}`, token, body })
    const { resourceId } = await admin<{ resourceId: string }>('POST', '/resources', {
      type: 'lambdaFunction',
      name: OPERATION,
      config: { code: CODE },
    })
    await admin('POST', '/operations', {
      operation: OPERATION,
      lambdaResourceId: resourceId,
      auth: { mode: 'public' },
    })
    await waitUntil(`permission sync of "${domain}"`, async () => {
      const { permissionsSync } = await admin<ResourceList>('GET', '/resources')
      if (permissionsSync?.status === 'failed') throw new Error(permissionsSync.error)
      return permissionsSync === undefined || permissionsSync.status === 'succeeded'
    })
    return new OneOperationSite(options)
  }

  /** How long a call takes, in milliseconds. Rejects when it is not answered as it should be. */
  async callMs(): Promise<number> {
    const { path, expect } = this.tenant
    const answer = await httpCall({
      origin: this.#origin,
      host: this.#domain,
      method: 'POST',
      path,
      body: BODY,
    })
    if (answer.status === expect.status && answer.text.includes(expect.includes)) return answer.ms
    throw new Error(`"${this.#domain}" answered ${answer.status}: ${answer.text}`)
  }

  get tenant() {
    return {
      host: this.#domain,
      path: `/data/public/${OPERATION}`,
      bodies: [JSON.stringify(BODY)],
      expect: { status: 200, includes: `"site":"${this.#domain}","hello":"Ada"` },
    } satisfies Tenant
  }
}
