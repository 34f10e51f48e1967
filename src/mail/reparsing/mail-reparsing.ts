import { setTimeout as delay } from 'node:timers/promises'

import type { Actor } from '#base/actor.ts'
import type { PageRequest, PageRows } from '#base/page.ts'
import { Tally } from '#base/tally.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Accepting } from '#mail/parsing/accepting.ts'
import { MessageParser } from '#mail/parsing/message-parser.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { ReparseProgress } from './model.ts'
import {
  type OutdatedMail,
  hasOutdated,
  markOutdated,
  selectOutdated,
  selectReparseProgress,
} from './queries.ts'
import { RemadeMail, type RemadeMailDeps } from './remade-mail.ts'

const BATCH = 20
const MARKED_AT_ONCE = 1000
const SITES_PAGE = 100
/** A site yields to the others after that. */
const TURN_MS = 10_000
/** For each millisecond of work so many without: the processor is the neighbours'. */
const REST_PER_WORK = 1
const MAX_REST_MS = 5000
/** Mail that comes goes first: while it comes without a pause, one message is parsed again in this time. */
const GIVE_WAY = { pauseMs: 20, withinMs: 2000, lookMs: 200 }
/** Messages of one turn that something else hinders: then it may hinder all. The next turn passes them by. */
const MAX_HINDERED = 5
/** Of one site; of more the first ones are tried again early. */
const MAX_PASSED_BY = 1000
const RETRY_SECONDS = 3600
const RETRY_LOOK_MS = 10_000

type Job = QueueJobs['mail-reparse']
type Sites = (page: PageRequest) => Promise<PageRows<{ readonly siteId: string }>>

/**
 * Parses and indexes again what an earlier version made of messages, from their bytes: one at a time, the newest first, half of the
 * time, and behind mail that comes. Ids, folders, marks and conversations stay. A crash at any moment leaves each message as it was
 * or as it becomes, and the next process goes on.
 */
export class MailReparsing {
  /** What became of messages in this process; `hindered` ones are tried again. */
  readonly outcomes = new Tally(['remade', 'failed', 'hindered'])
  readonly #deps
  readonly #remadeMail: RemadeMail
  /** By site, what was hindered since all of its messages were tried: the others come first. */
  readonly #passedBy = new Map<string, Set<string>>()

  constructor(
    deps: Omit<RemadeMailDeps, 'messageParser'> &
      Pick<PlatformServices, 'disk'> & {
        readonly accepting: Pick<Accepting, 'pauseOfAll'>
        readonly events: Pick<SecurityEvents, 'record'>
        /** How long a site works before the others have their turns. */
        readonly turnMs?: number
      },
  ) {
    this.#deps = deps
    this.#remadeMail = new RemadeMail({ ...deps, messageParser: new MessageParser(deps) })
  }

  /** Queues a job where an earlier version parsed a message of the site. */
  async queueUp(tx: SiteTx): Promise<void> {
    if (await hasOutdated(tx)) await this.#enqueue(tx)
  }

  /** Does so for all sites, one after the other: replicas that do it at once queue one job. */
  async queueAll(sites: Sites, stop: AbortSignal): Promise<void> {
    const { database, logger } = this.#deps
    for (let after: string | undefined; !stop.aborted;) {
      try {
        const { items, lastKey } = await sites({ limit: SITES_PAGE, after })
        for (const { siteId } of items) {
          if (stop.aborted) return
          await database.withSite(siteId, (tx) => this.queueUp(tx))
        }
        if (lastKey === undefined) return
        after = lastKey
      } catch (error) {
        logger.warn({ err: error }, 'messages of an earlier version are not looked for now')
        await pause(RETRY_LOOK_MS, stop)
      }
    }
  }

  progress(siteId: string): Promise<ReparseProgress> {
    return this.#deps.database.withSite(siteId, selectReparseProgress)
  }

  /** Begins now; with `again` also with what this version parsed. */
  async start(
    siteId: string,
    by: Actor,
    { again }: { readonly again: boolean },
  ): Promise<ReparseProgress> {
    const { database, events } = this.#deps
    await database.withSite(siteId, (tx) =>
      events.record(tx, { event: 'mail.reparse-started', pool: 'admin', by, detail: { again } }),
    )
    if (again) await this.#markAll(siteId)
    return database.withSite(siteId, async (tx) => {
      await this.queueUp(tx)
      return selectReparseProgress(tx)
    })
  }

  /** The handler of the queue `mail-reparse`: one turn of a site, and the next behind those of others. */
  async run({ siteId }: Job, signal: AbortSignal): Promise<void> {
    const { database, turnMs = TURN_MS } = this.#deps
    const turn = new Turn(turnMs, signal)
    while (!turn.isOver) {
      const batch = await this.#nextOf(siteId, turn)
      if (batch.length === 0) break
      await this.#remakeAll(siteId, batch, turn)
    }
    if (turn.hindered > 0 && turn.made === 0 && !signal.aborted) {
      throw new TransientFailure('Messages could not be parsed again now', { cause: turn.cause })
    }
    await database.withSite(siteId, (tx) => this.queueUp(tx))
  }

  /** Retries after an hour. */
  readonly givenUp = ({ siteId }: Job): Promise<void> =>
    this.#deps.database.withSite(siteId, (tx) => this.#enqueue(tx, RETRY_SECONDS))

  /** Those that were passed by come behind all others, in a turn of their own. */
  async #nextOf(siteId: string, turn: Turn): Promise<readonly OutdatedMail[]> {
    const { database } = this.#deps
    const without = [...(this.#passedBy.get(siteId) ?? [])]
    const next = await database.withSite(siteId, (tx) => selectOutdated(tx, BATCH, without))
    if (next.length > 0 || without.length === 0 || turn.hasTried) return next
    this.#passedBy.delete(siteId)
    return database.withSite(siteId, (tx) => selectOutdated(tx, BATCH, []))
  }

  async #remakeAll(siteId: string, batch: readonly OutdatedMail[], turn: Turn): Promise<void> {
    const { disk } = this.#deps
    for (const mail of batch) {
      await this.#giveWay(turn.signal)
      if (turn.isOver) return
      disk.check('database', 'objects')
      const begunMs = performance.now()
      await this.#remakeOne(siteId, mail, turn)
      const restMs = (performance.now() - begunMs) * REST_PER_WORK
      await pause(Math.min(restMs, MAX_REST_MS), turn.signal)
    }
  }

  async #remakeOne(siteId: string, mail: OutdatedMail, turn: Turn): Promise<void> {
    const { rawId } = mail
    try {
      const outcome = await this.#remadeMail.remake(siteId, mail)
      turn.made += 1
      if (outcome !== 'unread') this.outcomes.add(outcome)
    } catch (error) {
      this.#deps.logger.warn({ siteId, rawId, err: error }, 'mail not parsed again')
      this.outcomes.add('hindered')
      turn.note(error)
      this.#passBy(siteId, rawId)
    }
  }

  #passBy(siteId: string, rawId: string): void {
    const passed = this.#passedBy.get(siteId) ?? new Set()
    this.#passedBy.set(siteId, passed.add(rawId))
    const [first] = passed
    if (passed.size > MAX_PASSED_BY && first !== undefined) passed.delete(first)
  }

  /** Waits for a pause in the mail that comes here, and in what waits to be parsed anywhere; not for ever. */
  async #giveWay(signal: AbortSignal): Promise<void> {
    const { accepting, queue } = this.#deps
    const { pauseMs, withinMs, lookMs } = GIVE_WAY
    const endsAt = performance.now() + withinMs
    while (!signal.aborted && performance.now() < endsAt) {
      const isQuiet = await accepting.pauseOfAll({ pauseMs, withinMs: lookMs })
      if (isQuiet && !(await queue.hasOthers('mail-parse', ''))) return
      if (isQuiet) await pause(lookMs, signal)
    }
  }

  async #markAll(siteId: string): Promise<void> {
    const { database } = this.#deps
    for (let after: string | undefined = ''; after !== undefined;) {
      const from: string = after
      after = await database.withSite(siteId, (tx) => markOutdated(tx, from, MARKED_AT_ONCE))
    }
  }

  async #enqueue(tx: SiteTx, startAfterSeconds?: number): Promise<void> {
    const { siteId } = tx
    const options =
      startAfterSeconds === undefined
        ? { singletonKey: siteId }
        : { singletonKey: `${siteId} later`, startAfterSeconds }
    await this.#deps.queue.enqueue(tx, 'mail-reparse', { siteId }, options)
  }
}

/** How far one turn of a site has come. */
class Turn {
  hindered = 0
  cause: unknown
  made = 0
  readonly signal: AbortSignal
  readonly #endsAt: number

  constructor(turnMs: number, signal: AbortSignal) {
    this.#endsAt = performance.now() + turnMs
    this.signal = signal
  }

  get isOver(): boolean {
    return this.signal.aborted || performance.now() > this.#endsAt || this.hindered >= MAX_HINDERED
  }

  get hasTried(): boolean {
    return this.made + this.hindered > 0
  }

  note(error: unknown): void {
    this.hindered += 1
    this.cause ??= error
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {})
