import { encodeBase64 } from '#sandbox/guest/web/base64.ts'
import {
  deleteProperty,
  freeze,
  jsonParse,
  jsonQuote,
  isFinite,
  jsonStringifyWith,
  push,
  setForEach,
  toTag,
  toText,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'

import { bytesFrom } from './bytes.ts'
import { callHostFor } from './host-calls.ts'

interface Page {
  readonly items: readonly unknown[]
  readonly nextToken: string | null
}

/** A table as `ctx.table(name)` gives it: the inputs and answers of the routes under `…/resources/{id}/data/ddb`. */
export class GuestTable {
  readonly #call: number
  readonly #name: string

  constructor(call: number, name: string) {
    this.#call = call
    this.#name = jsonQuote(name)
  }

  get(input: unknown): Promise<unknown> {
    return this.#ask('get', input)
  }

  query(input: unknown): Promise<unknown> {
    return this.#ask('query', input)
  }

  scan(input: unknown): Promise<unknown> {
    return this.#ask('scan', input ?? {})
  }

  put(input: unknown): Promise<unknown> {
    return this.#ask('put', input)
  }

  update(input: unknown): Promise<unknown> {
    return this.#ask('update', input)
  }

  delete(input: unknown): Promise<unknown> {
    return this.#ask('delete', input)
  }

  batchGet(input: unknown): Promise<unknown> {
    return this.#ask('batch-get', input)
  }

  batchWrite(input: unknown): Promise<unknown> {
    return this.#ask('batch-write', input)
  }

  transactWrite(input: unknown): Promise<unknown> {
    return this.#ask('transact-write', input)
  }

  /** Every item of a query, page after page. */
  queryItems(input: unknown): AsyncGenerator<unknown> {
    return this.#items('query', input)
  }

  /** Every item of a scan, page after page. */
  scanItems(input: unknown): AsyncGenerator<unknown> {
    return this.#items('scan', input ?? {})
  }

  async #ask(action: string, input: unknown): Promise<unknown> {
    const argument = `{"name":${this.#name},"action":"${action}","input":${itemJson(input)}}`
    return jsonParse(await callHostFor(this.#call, 'table', argument))
  }

  async *#items(action: string, input: unknown): AsyncGenerator<unknown> {
    let next = input
    for (;;) {
      const { items, nextToken } = (await this.#ask(action, next)) as Page
      for (let index = 0; index < items.length; index += 1) yield items[index]
      if (nextToken === null) return
      next = { ...(input as object), exclusiveStartKey: undefined, nextToken }
    }
  }
}

deleteProperty(GuestTable.prototype, 'constructor')

freeze(GuestTable.prototype)

/**
 * JSON text of a table's input. What JSON has no word for is written with its marker: `Set`, bytes and `BigInt`; what it
 * would lose without a word is refused: `Map`, `NaN` and the infinities.
 */
const itemJson = (input: unknown): string => jsonStringifyWith(input, marked) ?? 'null'

function marked(name: string, value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return markedObject(name, value)
  if (typeof value === 'bigint') return { $number: toText(value) }
  if (typeof value === 'number' && !isFinite(value)) {
    throw new TypeErrorClass(`"${name}" is ${value}: a table keeps finite numbers only`)
  }
  return value
}

function markedObject(name: string, value: object): unknown {
  const tag = toTag(value)
  if (tag === '[object Set]') {
    const members: unknown[] = []
    setForEach(value, (member) => push(members, member))
    return { $set: members }
  }
  if (tag === '[object Map]') {
    throw new TypeErrorClass(`"${name}" is a Map: a table keeps plain objects`)
  }
  const bytes = bytesFrom(value)
  return bytes ? { $binary: encodeBase64(bytes) } : value
}
