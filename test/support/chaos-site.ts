import { randomBytes } from 'node:crypto'

import type { CroftProcess } from './croft-process.ts'
import type { Answer } from './http-client.ts'
import { portalOf } from './operator.ts'

const TOKEN_MS = 4 * 60_000
const UNANSWERED_MS = 60_000
const OBJECT_LENGTH = 2000
const READS_AT_ONCE = 8

const ECHO = 'export default ({ payload }) => payload'
const KEEP = `export default async ({ payload }, { table }) => {
  await table('ledger').put({ item: { id: payload, text: payload.repeat(20) } })
  return payload
}`
const FIND = `export default async ({ payload }, { table }) => {
  const { item } = await table('ledger').get({ key: { id: payload } })
  return item ?? null
}`

const OPERATIONS = ['echo', 'recall', 'keep', 'find']
const CACHE_SECONDS = 60
/** What is asked again and again; as often something new is, which no replica has. */
const KNOWN_PAYLOADS = 20
const PAYLOADS = 1e9

interface Paths {
  readonly bucket: string
  readonly table: string
}

/**
 * A site that is worked with while something is away, and a ledger of what it has acknowledged. Each call rejects when it is not
 * answered as it should be; an answer that is wrong says so with `wrong:`.
 */
export class ChaosSite {
  readonly domain: string
  readonly objects = new Set<string>()
  readonly items = new Set<string>()
  readonly #operatorKey: string
  #croft: CroftProcess
  #paths: Paths = { bucket: '', table: '' }
  #echoId = ''
  #token: { text: Promise<string>; untilMs: number } | undefined

  private constructor(croft: CroftProcess, operatorKey: string, domain: string) {
    this.#croft = croft
    this.#operatorKey = operatorKey
    this.domain = domain
  }

  static async create(
    croft: CroftProcess,
    operatorKey: string,
    domain: string,
  ): Promise<ChaosSite> {
    await portalOf(croft, operatorKey).createSite(domain)
    const site = new ChaosSite(croft, operatorKey, domain)
    await site.#furnish()
    for (const operation of OPERATIONS)
      await croft.until(operation, () => site.#isPublished(operation))
    return site
  }

  /** Where its admin calls go from now on. */
  moveTo(croft: CroftProcess): void {
    this.#croft = croft
  }

  /** Gets a new token for the next call of an admin. */
  signInAgain(): void {
    this.#token = undefined
  }

  /** An operation that needs no part but the sandbox. */
  async echo(croft = this.#croft): Promise<void> {
    const payload = randomText()
    const { data } = await this.#operation(croft, 'echo', payload)
    if (data !== payload) throw new Error(`wrong: ${JSON.stringify(data)} for ${payload}`)
  }

  /** An operation whose answers are cached, and shared by replicas where there is Redis. */
  async recall(croft = this.#croft): Promise<void> {
    const upTo = Math.random() < 0.5 ? KNOWN_PAYLOADS : PAYLOADS
    const payload = Math.floor(Math.random() * upTo)
    const { data } = await this.#operation(croft, 'recall', payload)
    if (data !== payload) throw new Error(`wrong: ${JSON.stringify(data)} for ${payload}`)
  }

  /** An operation that writes to a table. */
  async keep(croft = this.#croft): Promise<void> {
    const id = randomText()
    const { data } = await this.#operation(croft, 'keep', id)
    if (data !== id) throw new Error(`wrong: ${JSON.stringify(data)} for ${id}`)
    this.items.add(id)
  }

  /** An operation that reads from the table something that was acknowledged. */
  async find(croft = this.#croft): Promise<void> {
    const id = anyOf(this.items)
    if (id === undefined) return
    const { data } = await this.#operation(croft, 'find', id)
    if (data?.text !== id.repeat(20)) throw new Error(`wrong: ${JSON.stringify(data)} of ${id}`)
  }

  /** A table put of an admin. */
  async putItem(): Promise<void> {
    const id = randomText()
    await this.admin('POST', `${this.#paths.table}/put`, { item: { id, text: id.repeat(20) } })
    this.items.add(id)
  }

  async putObject(): Promise<void> {
    const key = randomText()
    const body = key.padEnd(OBJECT_LENGTH, 'x')
    await this.admin('POST', `${this.#paths.bucket}/put-object`, { key, body })
    this.objects.add(key)
  }

  /** Reads about an object that was acknowledged. */
  async headObject(): Promise<void> {
    const key = anyOf(this.objects)
    if (key !== undefined) await this.#requireObject(key)
  }

  /** A new revision of `echo`, which does the same. */
  async publish(): Promise<void> {
    const code = `// ${randomText()}\n${ECHO}`
    await this.admin('PATCH', `/admin/data/resources/${this.#echoId}`, { config: { code } })
  }

  /** What was acknowledged and is not there, or not whole. */
  async missing(): Promise<string[]> {
    const missing: string[] = []
    const look = (key: string, has: () => Promise<void>) =>
      has().catch((error: unknown) => missing.push(`${key}: ${String(error)}`))
    const looks = [
      ...[...this.objects].map((key) => () => look(key, () => this.#requireObject(key))),
      ...[...this.items].map((id) => () => look(id, () => this.#requireItem(id))),
    ]
    const next = looks.values()
    await Promise.all(
      Array.from({ length: READS_AT_ONCE }, async () => {
        for (const see of next) await see()
      }),
    )
    return missing
  }

  async admin(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.#adminToken()}` }
    return this.#call(this.#croft, { method, path, headers, ...(body !== undefined && { body }) })
  }

  async #furnish(): Promise<void> {
    const create = async (type: string, name: string, config: object): Promise<string> => {
      const made = await this.admin('POST', '/admin/data/resources', { type, name, config })
      return made.json.resourceId
    }
    const publish = async (operation: string, code: string, resources: object[], more = {}) => {
      const config = { code, timeoutSeconds: 10, resources }
      const lambdaResourceId = await create('lambdaFunction', operation, config)
      const auth = { mode: 'public' }
      await this.admin('POST', '/admin/data/operations', {
        operation,
        lambdaResourceId,
        auth,
        ...more,
      })
      return lambdaResourceId
    }
    const dataOf = (id: string): string => `/admin/data/resources/${id}/data`
    const config = { partitionKey: { name: 'id', type: 'S' } }
    const table = await create('ddbTable', 'ledger', config)
    const bucket = await create('s3Bucket', 'objects', {})
    this.#paths = { bucket: `${dataOf(bucket)}/s3`, table: `${dataOf(table)}/ddb` }
    const resources = [{ resourceId: table, access: 'readWrite' }]
    this.#echoId = await publish('echo', ECHO, [])
    await publish('recall', ECHO, [], { cache: { ttlSeconds: CACHE_SECONDS } })
    await publish('keep', KEEP, resources)
    await publish('find', FIND, resources)
  }

  /** What was made a moment ago may say that it is being published. */
  #isPublished(operation: string): Promise<boolean> {
    return this.#operation(this.#croft, operation, 'nothing').then(
      () => true,
      () => false,
    )
  }

  async #requireItem(id: string): Promise<void> {
    const { json } = await this.admin('POST', `${this.#paths.table}/get`, { key: { id } })
    if (json.item?.text !== id.repeat(20)) throw new Error(`wrong: ${JSON.stringify(json.item)}`)
  }

  async #requireObject(key: string): Promise<void> {
    const { json } = await this.admin('POST', `${this.#paths.bucket}/get-object`, { key })
    if (json.size !== OBJECT_LENGTH) throw new Error(`wrong: size ${json.size} of ${key}`)
  }

  async #operation(croft: CroftProcess, operation: string, payload: unknown) {
    const path = `/data/public/${operation}`
    return (await this.#call(croft, { method: 'POST', path, body: { payload } })).json
  }

  /** Those that call at the same time share it. */
  async #adminToken(): Promise<string> {
    if (!this.#token || performance.now() > this.#token.untilMs) {
      const text = portalOf(this.#croft, this.#operatorKey).token(this.domain, `ann@${this.domain}`)
      this.#token = { text, untilMs: performance.now() + TOKEN_MS }
      text.catch(() => this.signInAgain())
    }
    return this.#token.text
  }

  async #call(
    croft: CroftProcess,
    call: { method: string; path: string; headers?: Record<string, string>; body?: object },
  ): Promise<Answer> {
    const signal = AbortSignal.timeout(UNANSWERED_MS)
    const answer = await croft.call({ host: this.domain, ...call, signal })
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
    return answer
  }
}

const randomText = (): string => randomBytes(9).toString('base64url')

function anyOf(kept: ReadonlySet<string>): string | undefined {
  const at = Math.floor(Math.random() * kept.size)
  return kept.values().drop(at).next().value
}
