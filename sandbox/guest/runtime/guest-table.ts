import { deleteProperty, freeze, jsonParse, jsonQuote } from '#sandbox/guest/web/primordials.ts'

import { callHostFor } from './host-calls.ts'
import { itemJson } from './item-json.ts'

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
