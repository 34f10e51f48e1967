import type { Answer } from './http-client.ts'
import type { RuntimeSite } from './runtime-site.ts'

/** A table of a site, by its admin's routes. */
export class SiteTable {
  readonly resourceId: string
  readonly #site: RuntimeSite

  private constructor(site: RuntimeSite, resourceId: string) {
    this.#site = site
    this.resourceId = resourceId
  }

  static async create(site: RuntimeSite, name: string, config: object): Promise<SiteTable> {
    const made = await site.admin('POST', '/resources', { type: 'ddbTable', name, config })
    if (made.status !== 200) throw new Error(`answered ${made.status}: ${made.text}`)
    return new SiteTable(site, made.json.resourceId)
  }

  /** The same table through another site object: another replica, or another site. */
  seenBy(site: RuntimeSite): SiteTable {
    return new SiteTable(site, this.resourceId)
  }

  call(action: string, body?: unknown): Promise<Answer> {
    return this.#site.admin('POST', `/resources/${this.resourceId}/data/ddb/${action}`, body)
  }

  /** The answer of a call that must succeed. */
  async do(action: string, body?: unknown): Promise<Answer['json']> {
    const answer = await this.call(action, body)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`)
    return answer.json
  }

  /** Status, code and message of a call that must fail. */
  async fail(action: string, body?: unknown): Promise<Failure> {
    const answer = await this.call(action, body)
    if (answer.status === 200) throw new Error(`succeeded: ${answer.text}`)
    return { status: answer.status, ...answer.json.error }
  }
}

export interface Failure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly [field: string]: unknown
}
