import { AppError } from '#base/app-error.ts'
import { toStorable } from '#base/storable-text.ts'
import { noteMailboxChange } from '#mail/changes/note.ts'
import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { indexMessage } from '#mail/search/index-message.ts'
import type { MailParser, ParseOutcome } from '#platform/mail-parser/mail-parser.ts'
import type { StoredObject } from '#platform/objects/object-store.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import { attachmentIdOf, type MailContent, type StoredAttachment } from './model.ts'
import {
  countAttempt,
  finishRaw,
  holdMessages,
  insertRemovedObject,
  isKnown,
  type MailboxMessage,
  type PendingMail,
  selectMailboxesOf,
  selectUnparsed,
  updateMessage,
} from './queries.ts'
import { searchTextOf } from './search-text.ts'
import { lockConversations } from './thread-queries.ts'
import { type Referring, joinConversation } from './threads.ts'

const BATCH = 20
const MAX_ATTEMPTS = 2
/** Of a message that cannot be parsed its beginning is shown as it is. */
const RAW_SHOWN_BYTES = 64 * 1024
const RETRY_SECONDS = 3600

type Job = QueueJobs['mail-parse']

export interface MailParsingDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'objects' | 'notifications' | 'logger'
> {
  readonly mailParser: MailParser
  /** What a message to these mailboxes says of one that they may have sent. */
  readonly noteBounce: (
    tx: SiteTx,
    mailboxIds: readonly string[],
    bounce: NonNullable<MailContent['bounce']>,
  ) => Promise<void>
}

/**
 * Makes of accepted messages what is shown of them, after they were acknowledged and in a process of its own. A message that the
 * parser cannot take stays listed with its headers and its bytes. A crash at any moment leaves it pending.
 */
export class MailParsing {
  readonly #deps: MailParsingDeps

  constructor(deps: MailParsingDeps) {
    this.#deps = deps
  }

  /** The handler of the queue `mail-parse`: parses what the site has, the oldest first. */
  async run({ siteId }: Job, signal: AbortSignal): Promise<void> {
    let last: PendingMail | undefined
    let failure: unknown
    for (;;) {
      const after = last
      const batch = await this.#deps.database.withSite(siteId, (tx) =>
        selectUnparsed(tx, BATCH, after),
      )
      if (batch.length === 0) break
      for (const mail of batch) {
        if (signal.aborted) return this.again({ siteId })
        last = mail
        // What hinders one message may not hinder the next.
        await this.#parse(siteId, mail).catch((error: unknown) => {
          failure = error
          this.#deps.logger.warn({ siteId, rawId: mail.rawId, err: error }, 'mail not parsed')
        })
      }
    }
    if (failure !== undefined) {
      throw new TransientFailure('Some messages could not be parsed now', { cause: failure })
    }
  }

  /** Finds the conversation of a message by its header, before it is parsed: of one that its mailbox sent it is known at once. */
  async conversationOf(tx: SiteTx, message: Referring): Promise<string> {
    await lockConversations(tx, message.mailboxId)
    return joinConversation(tx, message)
  }

  /** Puts the work back on its queue: at once, or once it is given up, after an hour. */
  async again(job: Job, startAfterSeconds = 0): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(job.siteId, (tx) =>
      queue.enqueue(tx, 'mail-parse', job, { singletonKey: job.siteId, startAfterSeconds }),
    )
  }

  readonly givenUp = (job: Job): Promise<void> => this.again(job, RETRY_SECONDS)

  async #parse(siteId: string, mail: PendingMail): Promise<void> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS;) {
      const { outcome, attachments } = await this.#read(siteId, mail)
      if ('mail' in outcome) {
        return this.#finish(siteId, mail, { ...outcome.mail, status: 'parsed', attachments })
      }
      const { fault, reason } = outcome
      this.#deps.logger.warn({ siteId, rawId: mail.rawId, fault, reason }, 'mail cannot be parsed')
      attempts = await this.#deps.database.withSite(siteId, (tx) => countAttempt(tx, mail.rawId))
      // It is gone; or it is broken, and stays so however often it is read.
      if (attempts === 0) return
      if (fault === 'broken') break
    }
    await this.#giveUp(siteId, mail)
  }

  /** Objects are written before the rows that name them; at another attempt they are written over. */
  async #read(
    siteId: string,
    { rawId, sizeBytes }: PendingMail,
  ): Promise<{
    readonly outcome: ParseOutcome
    readonly attachments: readonly StoredAttachment[]
  }> {
    const { objects, mailParser } = this.#deps
    let attachments: StoredAttachment[] = []
    const open = async () => {
      attachments = []
      const { body } = await this.#raw(siteId, rawId)
      return { sizeBytes: Number(sizeBytes), body }
    }
    const outcome = await mailParser.parse(open, async ({ place, ...part }, body) => {
      const attachmentId = attachmentIdOf(place)
      const key = partKey(siteId, rawId, attachmentId)
      await objects.put(key, body, { contentType: part.contentType })
      attachments.push({ attachmentId, ...part })
    })
    return { outcome, attachments }
  }

  async #raw(siteId: string, rawId: string, end?: number): Promise<StoredObject> {
    const range = end === undefined ? undefined : { start: 0, end }
    const object = await this.#deps.objects.get(rawKey(siteId, rawId), range)
    if (object) return object
    throw new AppError('ServiceUnavailable', `The bytes of message "${rawId}" are not there`)
  }

  async #giveUp(siteId: string, mail: PendingMail): Promise<void> {
    const shown = Math.min(RAW_SHOWN_BYTES, Number(mail.sizeBytes))
    const bytes =
      shown === 0
        ? ''
        : await new Response((await this.#raw(siteId, mail.rawId, shown - 1)).body).text()
    await this.#finish(siteId, mail, {
      status: 'failed',
      text: toStorable(bytes),
      html: null,
      truncated: true,
      snippet: '',
      attachments: [],
      bounce: null,
    })
  }

  async #finish(siteId: string, { rawId }: PendingMail, content: MailContent): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      const mailboxIds = await selectMailboxesOf(tx, rawId)
      for (const mailboxId of mailboxIds) await lockConversations(tx, mailboxId)
      if (await finishRaw(tx, rawId, content)) {
        const { bounce } = content
        if (bounce !== null) await this.#deps.noteBounce(tx, mailboxIds, bounce)
        for (const message of await holdMessages(tx, rawId)) {
          await this.#show(tx, message, content)
        }
      } else if (!(await isKnown(tx, rawId))) {
        // It was removed while it was parsed, and perhaps its objects before these parts were written.
        await insertRemovedObject(tx, rawId)
        await queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
      }
    })
  }

  async #show(tx: SiteTx, message: MailboxMessage, content: MailContent): Promise<void> {
    const { messageId, mailboxId, receivedAt } = message
    const threadId = await joinConversation(tx, message)
    const hasAttachments = content.attachments.some(({ inline }) => !inline)
    const text = searchTextOf(message, content)
    await updateMessage(tx, messageId, { threadId, snippet: content.snippet, hasAttachments })
    await indexMessage(tx, { messageId, mailboxId, receivedAt, text })
    await noteMailboxChange(this.#deps.notifications, tx, mailboxId)
  }
}
