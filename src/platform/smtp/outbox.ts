import { mkdir, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ifMissing } from '#base/error-code.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { makeFolderDurably, writeFileAtomically } from '#config/atomic-file.ts'

import type { MailTransport, RawMail } from './mail-transport.ts'

const MAX_CAPTURED = 1000
/** Milliseconds and id, so that names sort as the messages were made. */
const ENTRY = /^\d{15}-[\w-]{1,64}\.json$/

/** A message that stayed here, for the operator to read. */
export const CapturedMessage = Type.Object({
  messageId: Type.String(),
  siteId: Type.String(),
  siteDomain: Type.String(),
  kind: Type.String(),
  to: Type.String(),
  from: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  createdAt: Type.String(),
})
export type CapturedMessage = Static<typeof CapturedMessage>

export interface OutboxFilter {
  readonly to?: string | undefined
  readonly siteId?: string | undefined
}

/**
 * The transport of an installation without a gateway. Mail stays in a folder, readable by its owner alone: each message as `.eml`
 * for mail programs and as `.json` for us. At most 1000 stay; the oldest are removed.
 */
export class Outbox implements MailTransport {
  readonly delivers = false
  readonly #dir: string
  readonly #max: number

  constructor(dir: string, max = MAX_CAPTURED) {
    this.#dir = dir
    this.#max = max
  }

  /** Sending a message again replaces it. */
  async send(message: RawMail): Promise<void> {
    const { messageId, siteId, siteDomain, kind, to, from, subject, text, html } = message
    const time = message.createdAt.getTime()
    const name = `${String(time).padStart(15, '0')}-${messageId}`
    const createdAt = message.createdAt.toISOString()
    const about = { messageId, siteId, siteDomain, kind, createdAt }
    const entry: CapturedMessage = { ...about, to, from, subject, text, html }
    await makeFolderDurably(this.#dir, 0o700)
    // The entry comes last: what is listed is whole.
    await writeFileAtomically(join(this.#dir, `${name}.eml`), Buffer.from(message.mime).toString())
    await writeFileAtomically(join(this.#dir, `${name}.json`), JSON.stringify(entry))
    const names = await this.#names()
    for (const old of names.slice(this.#max)) await this.#drop(old)
  }

  async verify(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 })
  }

  /** Newest first. */
  async list(filter: OutboxFilter, page: PageRequest): Promise<PageRows<CapturedMessage>> {
    const found: { readonly name: string; readonly message: CapturedMessage }[] = []
    for (const name of await this.#names()) {
      if (page.after !== undefined && name >= page.after) continue
      const message = await this.#read(name)
      if (message && matches(message, filter)) found.push({ name, message })
      if (found.length > page.limit) break
    }
    const { items, lastKey } = pageRows(found, page.limit, ({ name }) => name)
    return { items: items.map(({ message }) => message), lastKey }
  }

  async deleteSite(siteId: string): Promise<void> {
    for (const name of await this.#names()) {
      if ((await this.#read(name))?.siteId === siteId) await this.#drop(name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Newest first. */
  async #names(): Promise<string[]> {
    const files = await readdir(this.#dir).catch(ifMissing([]))
    return files
      .filter((file) => ENTRY.test(file))
      .toSorted()
      .toReversed()
  }

  /** Undefined when it has just given way. */
  async #read(name: string): Promise<CapturedMessage | undefined> {
    const text = await readFile(join(this.#dir, name), 'utf8').catch(ifMissing(undefined))
    if (text === undefined) return undefined
    const entry: unknown = JSON.parse(text)
    return Value.Check(CapturedMessage, entry) ? entry : undefined
  }

  async #drop(name: string): Promise<void> {
    await rm(join(this.#dir, name), { force: true })
    await rm(join(this.#dir, name.replace(/json$/, 'eml')), { force: true })
  }
}

const matches = (message: CapturedMessage, { to, siteId }: OutboxFilter): boolean =>
  (to === undefined || message.to.toLowerCase() === to.toLowerCase()) &&
  (siteId === undefined || message.siteId === siteId)
