import { createHmac, timingSafeEqual } from 'node:crypto'

import { AppError } from './app-error.ts'

export interface PageRequest {
  readonly limit: number
  /** The key of the last item already seen. */
  readonly after: string | undefined
}

export interface Page<Item> {
  readonly items: Item[]
  readonly nextToken: string | null
}

/** What a page query found: the items, and the key after which the next page starts. */
export interface PageRows<Item> {
  readonly items: Item[]
  readonly lastKey: string | undefined
}

/** Builds a page from one row more than asked for; the extra row only proves that a next page exists. */
export function pageRows<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => string,
): PageRows<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const more = rows.length > limit && last !== undefined
  return { items, lastKey: more ? keyOf(last) : undefined }
}

/** Seals the place where a list stopped, so that a token serves only the site, route and filters it was made for. */
export class PageTokens {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** `scope` names site, route and filters; the same words must be given to `open`. */
  seal(scope: readonly string[], lastKey: string | undefined): string | null {
    if (lastKey === undefined) return null
    const key = Buffer.from(lastKey)
    return Buffer.concat([this.#mac(scope, key), key]).toString('base64url')
  }

  open(scope: readonly string[], token: string): string {
    const bytes = Buffer.from(token, 'base64url')
    const [mac, key] = [bytes.subarray(0, 16), bytes.subarray(16)]
    if (mac.length !== 16 || !timingSafeEqual(mac, this.#mac(scope, key))) {
      throw new AppError(
        'InvalidNextToken',
        'nextToken does not belong to this list: start again without it',
      )
    }
    return key.toString()
  }

  #mac(scope: readonly string[], key: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#key)
    hmac.update(JSON.stringify(scope)).update('\0').update(key)
    return hmac.digest().subarray(0, 16)
  }
}
