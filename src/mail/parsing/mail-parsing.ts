import { withFallback } from '#base/with-timeout.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { Accepting } from './accepting.ts'
import { LargeMails } from './large-mails.ts'
import { MessageParser } from './message-parser.ts'
import type { MailContent } from './model.ts'
import {
  countAttempt,
  lockParsing,
  noteEnd,
  noteQueued,
  type PendingMail,
  type ReadMail,
  selectUnparsed,
} from './queries.ts'
import { ReadMails, type ReadMailsDeps } from './read-mails.ts'
import { lockConversations } from './thread-queries.ts'
import { type Referring, joinConversations } from './threads.ts'

const BATCH = 20
/** Of what was read and is not written yet. */
const HELD_CHARACTERS = 8 * 1024 * 1024
/** Messages that come to a site go first: while they come without a pause, one batch of its own is parsed in this time. */
const GIVE_WAY = { pauseMs: 2, withinMs: 1000 }
/** What was read is written, rather than wait so long for the next message. */
const SLOW_MS = 250
const RETRY_SECONDS = 3600
/** A site that keeps receiving lets the others go first now and then. */
const TURN_MS = 10_000
const LOOK_MS = 200
/** A site that keeps receiving holds one of them; its other messages are not parsed beside those. */
export const PARSING_PLACES = { concurrency: 2, perSite: 1 } as const
/** The writer of a message relies on a job that was queued within this time: its worker may have died since. */
const RELIED_ON_MS = 10_000

type Job = QueueJobs['mail-parse']

export interface MailParsingDeps
  extends ReadMailsDeps, Pick<PlatformServices, 'objects' | 'clock' | 'logger'> {
  /** For small messages, one behind the other in one process. */
  readonly mailParser: MailParser
  /** For large ones. */
  readonly loneMailParser: MailParser
  readonly accepting: Pick<Accepting, 'pause'>
  /** How long a site that keeps receiving may go on while others wait. */
  readonly turnMs?: number
  /** How often it is looked whether others wait. */
  readonly lookMs?: number
}

/** How far a job has come. */
interface Place {
  readonly siteId: string
  readonly last: PendingMail | undefined
  readonly hasFailed: boolean
}

/**
 * Makes of accepted messages what is shown of them, after they were acknowledged and in a process of its own. A message that the
 * parser cannot take stays listed with its headers and its bytes. A crash at any moment leaves it pending.
 */
export class MailParsing {
  readonly #deps: MailParsingDeps
  readonly #readMails: ReadMails
  readonly #messageParser: MessageParser
  /** Those that are not parsed beside others. */
  readonly large: LargeMails

  constructor(deps: MailParsingDeps) {
    this.#deps = deps
    this.#readMails = new ReadMails(deps)
    this.#messageParser = new MessageParser(deps)
    this.large = new LargeMails({
      ...deps,
      readMails: this.#readMails,
      messageParser: this.#messageParser,
    })
  }

  /** Has what this transaction adds parsed. */
  async queueUp(tx: SiteTx): Promise<void> {
    const { queue, clock } = this.#deps
    const { siteId } = tx
    await queue.enqueue(tx, 'mail-parse', { siteId }, { singletonKey: siteId })
    await noteQueued(tx, clock.now())
  }

  /** What is added needs no job of its own where one was queued since then, and has not ended: `mail_usage.parsing_since`. */
  queuedSince(now: Date): Date {
    return new Date(now.getTime() - RELIED_ON_MS)
  }

  /** The handler of the queue `mail-parse`: parses what the site has, the oldest first. */
  async run({ siteId }: Job, signal: AbortSignal): Promise<void> {
    const { turnMs = TURN_MS } = this.#deps
    const endsAt = performance.now() + turnMs
    const failures: unknown[] = []
    const othersWait = this.#othersWait(siteId)
    const isOver = async () => signal.aborted || (failures.length === 0 && (await othersWait()))
    let last: PendingMail | undefined
    for (;;) {
      await this.#giveWay(siteId, othersWait)
      const batch = await this.#next({ siteId, last, hasFailed: failures.length > 0 })
      if (batch.length === 0) break
      const { taken, failed } = await this.#parseAll(siteId, batch, isOver)
      failures.push(...failed)
      // After a failure the queue waits: it gets its turn at the end.
      const isLong = failures.length === 0 && performance.now() > endsAt
      if (signal.aborted || taken < batch.length || isLong) return this.again({ siteId })
      last = batch.at(-1)
    }
    if (failures.length > 0) {
      const [cause] = failures
      throw new TransientFailure('Some messages could not be parsed now', { cause })
    }
  }

  /** Looks again after some time only, and not where it has found others. */
  #othersWait(siteId: string): () => Promise<boolean> {
    const { queue, lookMs = LOOK_MS } = this.#deps
    let nextMs = performance.now() + lookMs
    let doWait = false
    return async () => {
      if (doWait || performance.now() < nextMs) return doWait
      nextMs = performance.now() + lookMs
      doWait = await queue.hasOthers('mail-parse', siteId)
      return doWait
    }
  }

  /** Waits for a pause in what the site receives, while no other site waits for the place. */
  async #giveWay(siteId: string, othersWait: () => Promise<boolean>): Promise<void> {
    const { accepting, lookMs = LOOK_MS } = this.#deps
    const endsAt = performance.now() + GIVE_WAY.withinMs
    while (performance.now() < endsAt) {
      if (await accepting.pause(siteId, { ...GIVE_WAY, withinMs: lookMs })) return
      if (await othersWait()) return
    }
  }

  /** Those after the last one; or, of those that no other run will look for, any that came late. */
  async #next({ siteId, last, hasFailed }: Place): Promise<PendingMail[]> {
    const { database } = this.#deps
    const found = await database.withSite(siteId, async (tx) => {
      if (last === undefined) await this.large.queueUp(tx)
      return selectUnparsed(tx, BATCH, last)
    })
    if (found.length > 0) return found
    // Those who rely on this job hold the same lock: what they add is found here, or they queue another one. It may have
    // been received before the last one; what failed is pending, too, and for another time.
    return database.withSite(siteId, async (tx) => {
      await lockParsing(tx)
      const missed = await selectUnparsed(tx, BATCH, hasFailed ? last : undefined)
      if (missed.length > 0) return missed
      await this.large.queueUp(tx)
      await noteEnd(tx)
      return []
    })
  }

  /** Finds the conversation of a message by its header, before it is parsed: of one that its mailbox sent it is known at once. */
  async conversationOf(tx: SiteTx, message: Referring): Promise<string> {
    await lockConversations(tx, message.mailboxId)
    const threads = await joinConversations(tx, [message])
    return threads.get(message.messageId) ?? message.threadId
  }

  /** Puts the work back on its queue. */
  again({ siteId }: Job): Promise<void> {
    return this.#deps.database.withSite(siteId, (tx) => this.queueUp(tx))
  }

  /** Retries after an hour. New messages do not wait for that: their job has another key. */
  readonly givenUp = ({ siteId }: Job): Promise<void> => {
    const { database, queue } = this.#deps
    const later = { singletonKey: `${siteId} later`, startAfterSeconds: RETRY_SECONDS }
    return database.withSite(siteId, (tx) => queue.enqueue(tx, 'mail-parse', { siteId }, later))
  }

  /**
   * Reads them one after the other until the turn is over, and writes what was read together: at the end, before it is too
   * much, or when the next one takes its time. Gives how many it took, and what failed: what hinders one may not hinder the next.
   */
  async #parseAll(
    siteId: string,
    batch: readonly PendingMail[],
    isOver: () => Promise<boolean>,
  ): Promise<{ readonly taken: number; readonly failed: readonly unknown[] }> {
    const failures: unknown[] = []
    let taken = 0
    let read: ReadMail[] = []
    const write = async (): Promise<void> => {
      failures.push(...(await this.#write(siteId, read)))
      read = []
    }
    for (const mail of batch) {
      if (taken > 0 && (await isOver())) break
      taken += 1
      const { rawId } = mail
      const parsing = this.#parse(siteId, mail)
      if (read.length > 0 && (await isSlow(parsing))) await write()
      try {
        const content = await parsing
        if (content) read.push({ rawId, content })
      } catch (error) {
        failures.push(this.#failed(siteId, rawId, error))
      }
      if (charactersOf(read) > HELD_CHARACTERS) await write()
    }
    await write()
    return { taken, failed: failures }
  }

  /** Where something hinders them together, each is written by itself. */
  async #write(siteId: string, read: readonly ReadMail[]): Promise<unknown[]> {
    const [first, ...others] = read
    if (!first) return []
    try {
      await this.#readMails.finish(siteId, read)
      return []
    } catch (error) {
      if (others.length === 0) return [this.#failed(siteId, first.rawId, error)]
      const failures = []
      for (const each of read) failures.push(...(await this.#write(siteId, [each])))
      return failures
    }
  }

  #failed(siteId: string, rawId: string, error: unknown): unknown {
    this.#deps.logger.warn({ siteId, rawId, err: error }, 'mail not parsed')
    return error
  }

  /** Undefined when it goes to those that are parsed alone, or was removed. */
  async #parse(siteId: string, mail: PendingMail): Promise<MailContent | undefined> {
    const { database, logger, mailParser } = this.#deps
    const outcome = await this.#messageParser.parse(mailParser, siteId, mail)
    if ('content' in outcome) return outcome.content
    logger.warn({ siteId, rawId: mail.rawId, ...outcome }, 'mail cannot be parsed beside others')
    // It stays so however often it is read.
    if (outcome.fault === 'broken') return this.#messageParser.unparsed(siteId, mail)
    await database.withSite(siteId, async (tx) => {
      await countAttempt(tx, mail.rawId)
      await this.large.queueUp(tx)
    })
    return undefined
  }
}

const charactersOf = (read: readonly ReadMail[]): number =>
  read.reduce((sum, { content }) => sum + content.text.length + (content.html?.length ?? 0), 0)

function isSlow(work: Promise<unknown>): Promise<boolean> {
  const isOver = (): boolean => false
  return withFallback(work.then(isOver, isOver), SLOW_MS, true)
}
