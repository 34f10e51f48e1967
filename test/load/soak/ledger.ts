import { setTimeout as delay } from 'node:timers/promises'

import type { Installation } from './installation.ts'
import type { SoakSite } from './site.ts'
import { isTimeout, type Tally } from './tally.ts'

const EVERY_MS = 150
const PAGE = 1000

const ADD = `export default async ({ payload }, { table }) => {
  await table('ledger').update({
    key: { k: payload },
    updateExpression: 'ADD times :one',
    expressionAttributeValues: { ':one': 1 },
  })
  return payload
}`
const READ = `export default async ({ payload }, { table }) => {
  const { items, nextToken } = await table('ledger').scan({
    limit: ${PAGE},
    ...(payload === null ? {} : { nextToken: payload }),
  })
  return { items, nextToken }
}`

interface LedgerDeps {
  readonly site: SoakSite
  readonly installation: Installation
  readonly tally: Tally
}

/** A site that writes through a function, and remembers what was acknowledged. */
export class Ledger {
  readonly #site: SoakSite
  readonly #installation: Installation
  readonly #tally: Tally
  readonly #written = new Map<string, 'acknowledged' | 'unknown'>()

  private constructor({ site, installation, tally }: LedgerDeps) {
    this.#site = site
    this.#installation = installation
    this.#tally = tally
  }

  static async open(deps: LedgerDeps): Promise<Ledger> {
    const { site } = deps
    const resourceId = await site.createTable('ledger')
    const resources = [{ resourceId, access: 'readWrite' }]
    await site.publish('add', ADD, { resources })
    await site.publish('read', READ, { resources })
    return new Ledger(deps)
  }

  get acknowledged(): number {
    return [...this.#written.values()].filter((state) => state === 'acknowledged').length
  }

  async writeOn(signal: AbortSignal): Promise<void> {
    for (let serial = 0; !signal.aborted; serial += 1) {
      await this.#write(`w${serial}`)
      await delay(EVERY_MS)
    }
  }

  /** Rejects when the ledger cannot be read just now. */
  async check(): Promise<void> {
    const expected = new Map(this.#written)
    const found = new Map<string, number>()
    let token: string | null = null
    do {
      const answer = await this.#site.call('read', token)
      if (answer.status !== 200) throw new Error(`the ledger: ${answer.status} ${answer.text}`)
      for (const { k, times } of answer.json.data.items) found.set(k, times)
      token = answer.json.data.nextToken
    } while (token !== null)
    for (const [key, state] of expected) {
      const times = found.get(key) ?? 0
      if (state === 'acknowledged' ? times !== 1 : times > 1) {
        this.#tally.violation(`write ${key} (${state}) is there ${times} times`)
      }
    }
    this.#tally.count('ledger checked')
  }

  async #write(key: string): Promise<void> {
    this.#written.set(key, 'unknown')
    try {
      const { status, text } = await this.#site.call('add', key)
      if (status === 200) {
        this.#written.set(key, 'acknowledged')
        this.#tally.count('write acknowledged')
      } else if (status === 503 && text.includes('"retryable":true')) {
        // It waited for the table inside a host that an attack brought down: it may be written or not, and says so.
        this.#tally.count('write interrupted')
      } else if (this.#installation.excuses)
        this.#tally.count('write refused within 10 s of a kill')
      else this.#tally.violation(`write ${key} was answered ${status} ${text}`)
    } catch (error) {
      if (isTimeout(error)) this.#tally.violation(`write ${key} was never answered`)
      else this.#tally.count('write cut off by a kill')
    }
  }
}
