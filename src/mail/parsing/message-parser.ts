import { AppError } from '#base/app-error.ts'
import { toStorable } from '#base/storable-text.ts'
import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import type { MailParser, ParseFault, PartSink } from '#platform/mail-parser/mail-parser.ts'
import type { ObjectStore, StoredObject } from '#platform/objects/object-store.ts'

import { attachmentIdOf, type MailContent, type StoredAttachment } from './model.ts'
import type { PendingMail } from './queries.ts'

/** Of a message that cannot be parsed its beginning is shown as it is. */
const RAW_SHOWN_BYTES = 64 * 1024

/** Stores the attachments of one message, and lists them once all were taken. */
export interface PartStore {
  readonly take: PartSink
  readonly stored: () => readonly StoredAttachment[]
}

type ParsedOrFault =
  | { readonly content: MailContent }
  | { readonly fault: ParseFault; readonly reason: string }

/** Reads stored messages with a parser, and stores their attachments. */
export class MessageParser {
  readonly #deps

  constructor(deps: { readonly objects: ObjectStore }) {
    this.#deps = deps
  }

  /** Objects are written before the rows that name them; at another attempt they are written over. */
  parse(parser: MailParser, siteId: string, mail: PendingMail): Promise<ParsedOrFault> {
    return this.parseInto(parser, siteId, mail, () => this.#newParts(siteId, mail.rawId))
  }

  /** The same with another way to store attachments: `openParts` begins with none, at each attempt. */
  async parseInto(
    parser: MailParser,
    siteId: string,
    { rawId, sizeBytes }: Pick<PendingMail, 'rawId' | 'sizeBytes'>,
    openParts: () => PartStore,
  ): Promise<ParsedOrFault> {
    let parts = openParts()
    const open = async () => {
      parts = openParts()
      const { body } = await this.#raw(siteId, rawId)
      return { sizeBytes: Number(sizeBytes), body }
    }
    const outcome = await parser.parse(open, (part, body) => parts.take(part, body))
    if ('fault' in outcome) return outcome
    return { content: { ...outcome.mail, status: 'parsed', attachments: parts.stored() } }
  }

  #newParts(siteId: string, rawId: string): PartStore {
    const attachments: StoredAttachment[] = []
    return {
      take: async ({ place, ...part }, body) => {
        const attachmentId = attachmentIdOf(place)
        const key = partKey(siteId, rawId, attachmentId)
        await this.#deps.objects.put(key, body, { contentType: part.contentType })
        attachments.push({ attachmentId, ...part })
      },
      stored: () => attachments,
    }
  }

  /** What is shown of a message that no parser can take. */
  async unparsed(siteId: string, { rawId, sizeBytes }: PendingMail): Promise<MailContent> {
    const shown = Math.min(RAW_SHOWN_BYTES, Number(sizeBytes))
    const bytes =
      shown === 0 ? '' : await new Response((await this.#raw(siteId, rawId, shown - 1)).body).text()
    return {
      status: 'failed',
      text: toStorable(bytes),
      html: null,
      truncated: true,
      snippet: '',
      attachments: [],
      bounce: null,
    }
  }

  async #raw(siteId: string, rawId: string, end?: number): Promise<StoredObject> {
    const range = end === undefined ? undefined : { start: 0, end }
    const object = await this.#deps.objects.get(rawKey(siteId, rawId), range)
    if (object) return object
    throw new AppError('ServiceUnavailable', `The bytes of message "${rawId}" are not there`)
  }
}
