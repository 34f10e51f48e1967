/**
 * What a function is given, in memory, for `deno test`: tables with `get`, `put`, `delete`, `update` and `query` of one
 * partition, mail that is kept, operations that the test provides. It does the plain things as the service does them
 * and refuses everything else by name, so that a test never passes on a guess.
 */
import type { Context, Email, HostError, Item, MailboxEmail } from 'croft'

export interface TableKeys {
  readonly partitionKey: string
  readonly sortKey?: string
}

export interface ShimOptions {
  readonly tables?: Readonly<Record<string, TableKeys>>
  readonly env?: Readonly<Record<string, string>>
  readonly operations?: Readonly<Record<string, (payload: unknown) => unknown>>
}

export interface ShimContext extends Context {
  /** What was sent, the oldest first. */
  readonly sent: readonly (Email | MailboxEmail)[]
  /** Resolves when everything that was given to `waitUntil` is done; rejects where some of it failed. */
  readonly done: () => Promise<void>
}

/** A context over empty tables. */
export function shimContext({ tables = {}, env = {}, operations = {} }: ShimOptions): ShimContext {
  const stores = new Map(Object.entries(tables).map(([name, keys]) => [name, new ShimTable(keys)]))
  const sent: (Email | MailboxEmail)[] = []
  const waiting: Promise<unknown>[] = []
  const log = Object.assign(() => {}, { debug() {}, info() {}, warn() {}, error() {} })
  return {
    env: Object.freeze(Object.assign(Object.create(null), env) as Record<string, string>),
    log,
    sent,
    auth: null,
    requestId: 'test',
    basePath: '/data/public/test',
    waitUntil: (promise) => void waiting.push(promise),
    done: async () => void (await Promise.all(waiting)),
    table: ((name: string) =>
      stores.get(name) ??
      refuse(
        'Forbidden',
        403,
        `The function has no access to table "${name}"`,
      )) as unknown as Context['table'],
    bucket: (name) => notHere(`bucket("${name}")`),
    sendEmail: async (message: Email | MailboxEmail) => {
      sent.push(message)
      // One message from a mailbox, one for each recipient from the site.
      const copies = 'mailbox' in message ? [''] : [message.to].flat()
      const messageIds = copies.map((_, at) => `msg_${sent.length}_${at}`)
      const id = messageIds[0] ?? ''
      return { id, threadId: id, messageId: id, messageIds }
    },
    operation: (async (name: string, payload: unknown = null) => {
      const called = operations[name]
      if (!called) refuse('OperationNotFound', 404, `Operation "${name}" does not exist`)
      return called(payload)
    }) as Context['operation'],
  }
}

type Fields = Readonly<Record<string, unknown>>

const EXISTS = /^attribute_(not_)?exists\(\s*([#\w]+)\s*\)$/
const PARTITION = /^([#\w]+)\s*=\s*(:\w+)$/
const ASSIGNMENT = /^([#\w]+)\s*=\s*(:\w+)$/
const ADDITION = /^([#\w]+)\s+(:\w+)$/

class ShimTable {
  readonly #keys: TableKeys
  readonly #items = new Map<string, Item>()

  constructor(keys: TableKeys) {
    this.#keys = keys
  }

  async get(input: Fields) {
    only(input, ['key', 'consistentRead'])
    return { item: copy(this.#items.get(this.#idOf(input['key'])) ?? null) }
  }

  async put(input: Fields) {
    only(input, ['item', ...CONDITION])
    const id = this.#idOf(input['item'])
    check(input, this.#items.get(id))
    this.#items.set(id, copy(input['item'] as Item))
    return { ok: true }
  }

  async delete(input: Fields) {
    only(input, ['key', ...CONDITION])
    const id = this.#idOf(input['key'])
    check(input, this.#items.get(id))
    this.#items.delete(id)
    return { ok: true }
  }

  /** `SET a = :a, b = :b` and `ADD n :n`, one of the two. */
  async update(input: Fields) {
    only(input, ['key', 'updateExpression', 'returnValues', ...CONDITION])
    const returned = input['returnValues'] ?? 'NONE'
    if (returned !== 'NONE' && returned !== 'ALL_NEW') notHere(`returnValues "${String(returned)}"`)
    const id = this.#idOf(input['key'])
    check(input, this.#items.get(id))
    const item = { ...(input['key'] as Item), ...copy(this.#items.get(id) ?? {}) }
    const [, verb, rest] = /^\s*(SET|ADD)\s+(.+)$/.exec(String(input['updateExpression'])) ?? []
    if (rest === undefined) notHere(`updateExpression "${String(input['updateExpression'])}"`)
    for (const part of rest.split(',').map((each) => each.trim())) {
      const [, name, value] = (verb === 'SET' ? ASSIGNMENT : ADDITION).exec(part) ?? []
      if (name === undefined || value === undefined) notHere(`"${verb} ${part}"`)
      const [attribute, operand] = [nameOf(input, name), valueOf(input, value)]
      item[attribute] =
        verb === 'SET' ? copy(operand) : Number(item[attribute] ?? 0) + Number(operand)
    }
    this.#items.set(id, item)
    return { ok: true, ...(returned === 'ALL_NEW' ? { attributes: copy(item) } : {}) }
  }

  /** The items of one partition, in the order of their sort keys. */
  async query(input: Fields) {
    only(input, ['keyConditionExpression', 'scanIndexForward', 'limit', ...NAMES_AND_VALUES])
    const [, name, value] = PARTITION.exec(String(input['keyConditionExpression'])) ?? []
    const { partitionKey, sortKey } = this.#keys
    if (name === undefined || value === undefined || nameOf(input, name) !== partitionKey) {
      notHere(`keyConditionExpression "${String(input['keyConditionExpression'])}"`)
    }
    const wanted = valueOf(input, value)
    const found = [...this.#items.values()].filter((item) => item[partitionKey] === wanted)
    if (sortKey !== undefined) found.sort((one, two) => compare(one[sortKey], two[sortKey]))
    if (input['scanIndexForward'] === false) found.reverse()
    const limit = Number(input['limit'] ?? Number.POSITIVE_INFINITY)
    const items = copy(found.slice(0, limit))
    // Where the service would go on, this one stops: the next page is for a test against a site.
    return { items, count: items.length, scannedCount: items.length, nextToken: null }
  }

  scan = () => notHere('scan')
  batchGet = () => notHere('batchGet')
  batchWrite = () => notHere('batchWrite')
  transactWrite = () => notHere('transactWrite')
  queryItems = () => notHere('queryItems')
  scanItems = () => notHere('scanItems')

  #idOf(key: unknown): string {
    const { partitionKey, sortKey } = this.#keys
    const parts = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]
    return JSON.stringify(
      parts.map((name) => {
        const value = (key as Item)[name]
        if (typeof value === 'string' || typeof value === 'number') return value
        return refuse('ValidationError', 400, `The key lacks "${name}"`)
      }),
    )
  }
}

const NAMES_AND_VALUES = ['expressionAttributeNames', 'expressionAttributeValues']
const CONDITION = ['conditionExpression', ...NAMES_AND_VALUES]

/** `attribute_exists(a)` and `attribute_not_exists(a)`. */
function check(input: Fields, item: Item | undefined): void {
  const condition = input['conditionExpression']
  if (condition === undefined) return
  const [whole, not, name] = EXISTS.exec(String(condition)) ?? []
  if (whole === undefined || name === undefined)
    notHere(`conditionExpression "${String(condition)}"`)
  const exists = item !== undefined && nameOf(input, name) in item
  if (exists === (not !== undefined)) {
    refuse('ConditionalCheckFailed', 409, 'The conditional request failed')
  }
}

function nameOf(input: Fields, name: string): string {
  if (!name.startsWith('#')) return name
  const names = (input['expressionAttributeNames'] ?? {}) as Record<string, string>
  return names[name] ?? refuse('ValidationError', 400, `"${name}" is not defined`)
}

function valueOf(input: Fields, name: string): unknown {
  const values = (input['expressionAttributeValues'] ?? {}) as Record<string, unknown>
  return name in values ? values[name] : refuse('ValidationError', 400, `"${name}" is not defined`)
}

function only(input: Fields, known: readonly string[]): void {
  for (const name of Object.keys(input)) {
    if (!known.includes(name)) notHere(`"${name}"`)
  }
}

const compare = (one: string | number, two: string | number): number =>
  one < two ? -1 : one > two ? 1 : 0

const copy = <Value>(value: Value): Value => structuredClone(value)

function refuse(code: string, statusCode: number, message: string): never {
  const error: HostError = Object.assign(new Error(message), { name: code, code, statusCode })
  throw error
}

function notHere(what: string): never {
  throw new Error(`The test shim does not do ${what}: test it against a site`)
}
