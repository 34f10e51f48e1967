import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { QueueJobs } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { MessageParser } from './message-parser.ts'
import type { MailContent } from './model.ts'
import { countAttempt, type PendingMail, selectLarge, uncountAttempt } from './queries.ts'
import type { ReadMails } from './read-mails.ts'

/** Attempts that begin, those during which the service was killed included. */
const MAX_ATTEMPTS = 3
const RETRY_SECONDS = 60

type Job = QueueJobs['large-mail-parse']

/**
 * Parses large messages, and those that took too much beside others: each in a process of its own, one at a time, one of each
 * site in turn. A message that breaks its process is shown unparsed and never tried again.
 */
export class LargeMails {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'logger'> & {
      /** Gives each message a process that has read nothing before it. */
      readonly loneMailParser: MailParser
      readonly messageParser: MessageParser
      readonly readMails: ReadMails
    },
  ) {
    this.#deps = deps
  }

  /** Queues a job where the site has such a message. */
  async queueUp(tx: SiteTx): Promise<void> {
    const [waiting] = await selectLarge(tx, 1, undefined)
    if (waiting) await this.#enqueue(tx)
  }

  /** The handler of the queue `large-mail-parse`: one message, and the next behind those of other sites. */
  async run({ siteId }: Job, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    let last: PendingMail | undefined
    let hasFailed = false
    while (!signal.aborted) {
      const [mail] = await database.withSite(siteId, (tx) => selectLarge(tx, 1, last))
      if (!mail) break
      if (await this.#show(siteId, mail)) return this.#again(siteId)
      hasFailed = true
      last = mail
    }
    if (signal.aborted) return this.#again(siteId)
    if (hasFailed) await this.givenUp({ siteId })
  }

  /** Retries after a minute. New messages do not wait for that: their job has another key. */
  readonly givenUp = ({ siteId }: Job): Promise<void> =>
    this.#deps.database.withSite(siteId, (tx) => this.#enqueue(tx, RETRY_SECONDS))

  #again(siteId: string): Promise<void> {
    return this.#deps.database.withSite(siteId, (tx) => this.queueUp(tx))
  }

  async #enqueue(tx: SiteTx, startAfterSeconds?: number): Promise<void> {
    const { siteId } = tx
    const later = startAfterSeconds === undefined ? {} : { startAfterSeconds }
    const singletonKey = startAfterSeconds === undefined ? siteId : `${siteId} later`
    const options = { singletonKey, ...later }
    await this.#deps.queue.enqueue(tx, 'large-mail-parse', { siteId }, options)
  }

  /** False when something other than the message hinders it. */
  async #show(siteId: string, mail: PendingMail): Promise<boolean> {
    const { database, readMails, logger } = this.#deps
    const { rawId } = mail
    const attempts = await database.withSite(siteId, (tx) => countAttempt(tx, rawId))
    // It was removed.
    if (attempts === 0) return true
    try {
      const content = await this.#content(siteId, mail, attempts)
      await readMails.finish(siteId, [{ rawId, content }])
      return true
    } catch (error) {
      logger.warn({ siteId, rawId, err: error }, 'mail not parsed')
      await database.withSite(siteId, (tx) => uncountAttempt(tx, rawId))
      return false
    }
  }

  async #content(siteId: string, mail: PendingMail, attempts: number): Promise<MailContent> {
    const { loneMailParser, messageParser, logger } = this.#deps
    if (attempts <= MAX_ATTEMPTS) {
      const outcome = await messageParser.parse(loneMailParser, siteId, mail)
      if ('content' in outcome) return outcome.content
      logger.warn({ siteId, rawId: mail.rawId, ...outcome }, 'mail cannot be parsed')
    }
    return messageParser.unparsed(siteId, mail)
  }
}
