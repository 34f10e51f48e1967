import { codeOf } from '#base/error-code.ts'
import { HEADER_BLOCK_BYTES } from '#mail/headers/header-fields.ts'
import { keptPeople, readMailHeaders } from '#mail/headers/mail-headers.ts'
import { storedAttachments } from '#mail/messages/stored-attachments.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { MessageParser } from '#mail/parsing/message-parser.ts'
import { LARGE_BYTES, type MailContent, type StoredAttachment } from '#mail/parsing/model.ts'
import { removeOrphans } from '#mail/parsing/orphaned-objects.ts'
import { searchTextOf } from '#mail/parsing/search-text.ts'
import { reindexMessages } from '#mail/search/index-messages.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import { limitLockWaits, retryOnLockTimeout } from '#platform/postgres/lock-timeout.ts'
import type { PlatformServices } from '#platform/services.ts'

import { KeptParts } from './kept-parts.ts'
import { type OutdatedMail, keepMade, replaceMade } from './queries.ts'

/** SQLSTATE classes 22 and 54: what was made of the message cannot be stored, however often it is tried. */
const NOT_STORABLE = /^(?:22|54)...$/

export interface RemadeMailDeps extends Pick<
  PlatformServices,
  'database' | 'objects' | 'ids' | 'clock' | 'queue' | 'logger'
> {
  /** For small messages, behind those that come. */
  readonly mailParser: MailParser
  /** For large ones, and those that took too much beside others. */
  readonly loneMailParser: MailParser
  readonly messageParser: MessageParser
}

/** Parses and indexes single messages again. */
export class RemadeMail {
  readonly #deps: RemadeMailDeps

  constructor(deps: RemadeMailDeps) {
    this.#deps = deps
  }

  /**
   * Replaces what is shown of a message and the words by which it is found, in one transaction: all of it, or nothing. What cannot be
   * parsed stays as it was, and counts as tried, and so does what is in no mailbox. Rejects where something other than the message is at fault.
   */
  async remake(siteId: string, mail: OutdatedMail): Promise<'remade' | 'failed' | 'unread'> {
    const { database, logger } = this.#deps
    const { rawId } = mail
    const reason = mail.isShown ? await this.#tryToRemake(siteId, mail) : undefined
    if (reason !== undefined) {
      logger.warn({ siteId, rawId, reason }, 'mail cannot be parsed again')
    } else if (mail.isShown) return 'remade'
    await database.withSite(siteId, (tx) => keepMade(tx, mail))
    return reason === undefined ? 'unread' : 'failed'
  }

  /** Why it cannot be, or undefined once it is. */
  async #tryToRemake(siteId: string, mail: OutdatedMail): Promise<string | undefined> {
    const start = await this.#start(siteId, mail)
    if (start === undefined) return 'Its bytes are not there, or others than came'
    const outcome = await this.#parse(siteId, mail)
    if ('reason' in outcome) return outcome.reason
    try {
      await this.#replace(siteId, mail, { start, content: outcome.content })
      return undefined
    } catch (error) {
      if (NOT_STORABLE.test(codeOf(error) ?? '')) return String(error)
      throw error
    }
  }

  /** Undefined for a message that is not stored whole. */
  async #start(
    siteId: string,
    { rawId, sizeBytes }: OutdatedMail,
  ): Promise<Uint8Array | undefined> {
    const { objects } = this.#deps
    const key = rawKey(siteId, rawId)
    const range = { start: 0, end: HEADER_BLOCK_BYTES - 1 }
    const object = await objects.get(key, sizeBytes === '0' ? undefined : range)
    if (!object) return undefined
    if (object.head.sizeBytes !== Number(sizeBytes)) {
      await object.body.cancel()
      return undefined
    }
    return new Response(object.body).bytes()
  }

  async #parse(
    siteId: string,
    mail: OutdatedMail,
  ): Promise<{ readonly content: MailContent } | { readonly reason: string }> {
    const { objects, ids, messageParser, mailParser, loneMailParser } = this.#deps
    const { rawId } = mail
    const before: readonly StoredAttachment[] = storedAttachments(mail.attachments).map(
      ({ contentId = null, ...part }) => ({ contentId, ...part }),
    )
    const openParts = () => new KeptParts({ objects, ids, siteId, rawId, before })
    if (Number(mail.sizeBytes) <= LARGE_BYTES) {
      const outcome = await messageParser.parseInto(mailParser, siteId, mail, openParts)
      if ('content' in outcome || outcome.fault === 'broken') return outcome
    }
    return messageParser.parseInto(loneMailParser, siteId, mail, openParts)
  }

  async #replace(
    siteId: string,
    mail: OutdatedMail,
    { start, content }: { readonly start: Uint8Array; readonly content: MailContent },
  ): Promise<void> {
    const { database, clock } = this.#deps
    const headers = readMailHeaders(start)
    const { subject, from: fromAddress } = headers
    const words = searchTextOf({ subject, fromAddress, recipients: keptPeople(headers) }, content)
    await retryOnLockTimeout(() =>
      database.withSite(siteId, async (tx) => {
        await limitLockWaits(tx)
        const messages = await replaceMade(tx, mail, { headers, content }, clock.now())
        await reindexMessages(
          tx,
          messages.map((message) => ({ ...message, words })),
        )
        if (messages.length === 0) await removeOrphans(tx, this.#deps, [mail.rawId])
      }),
    )
  }
}
