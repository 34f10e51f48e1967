import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

/** One site's data runtime over the wire: its admin's routes and its visitors' calls. */
export class RuntimeSite {
  readonly host: string
  readonly #stack: Stack
  readonly #adminToken: string

  private constructor(stack: Stack, host: string, adminToken: string) {
    this.#stack = stack
    this.host = host
    this.#adminToken = adminToken
  }

  static async open(stack: Stack, host: string): Promise<RuntimeSite> {
    return new RuntimeSite(stack, host, await stack.adminToken(host))
  }

  /** A fresh site of its own. */
  static async create(stack: Stack, domain: string): Promise<RuntimeSite> {
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    return RuntimeSite.open(stack, domain)
  }

  admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#stack.call(this.host, method, `/admin/data${path}`, {
      token: this.#adminToken,
      ...(body === undefined ? {} : { body }),
    })
  }

  /** The items of a list, page after page. */
  async items(path: string): Promise<Answer['json'][]> {
    const items = []
    for (let next: string | null = ''; next !== null;) {
      const query: string = next && `&nextToken=${next}`
      const { json } = succeeded(await this.admin('GET', `${path}?limit=100${query}`))
      items.push(...json.items)
      next = json.nextToken
    }
    return items
  }

  /** Creates a function and gives back its id. */
  async putFunction(name: string, code: string, config: object = {}): Promise<string> {
    const made = await this.admin('POST', '/resources', {
      type: 'lambdaFunction',
      name,
      config: { code, ...config },
    })
    return succeeded(made).json.resourceId
  }

  /** Creates groups of visitors that are not there yet. */
  async putGroups(...names: readonly string[]): Promise<void> {
    for (const groupName of names) await this.admin('POST', '/groups', { groupName })
  }

  async putOperation(operation: string, rest: object): Promise<Answer> {
    const made = await this.admin('POST', '/operations', { operation, ...rest })
    return succeeded(made)
  }

  /** A public operation on a function of its own, published. */
  async publish(operation: string, code: string, rest: object = {}): Promise<string> {
    const lambdaResourceId = await this.putFunction(operation, code)
    await this.putOperation(operation, { lambdaResourceId, auth: { mode: 'public' }, ...rest })
    await this.synced()
    return lambdaResourceId
  }

  synced(): Promise<void> {
    return this.#stack.synced(this.host)
  }

  /** Calls a public operation. */
  call(operation: string, payload?: unknown): Promise<Answer> {
    return this.send(`/data/public/${operation}`, JSON.stringify({ payload }))
  }

  /** Calls an operation with a visitor's token. */
  callAs(token: string, operation: string, payload?: unknown): Promise<Answer> {
    return this.send(`/data/${operation}`, JSON.stringify({ payload }), {
      authorization: `Bearer ${token}`,
    })
  }

  /** A body as it is. */
  send(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#stack.call(this.host, 'POST', path, {
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  }
}

function succeeded(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`)
  return answer
}
