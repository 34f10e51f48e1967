import { ANY_TOPIC, type SiteWatcher, SiteWatchers } from '#base/site-watchers.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

const HEARTBEAT_MS = 15_000

/** Mailboxes with news, by id; `*` is any of the site's. None of them is a sign of life. */
export type ChangedMailboxes = ReadonlySet<string>

/** Tells those who watch the mailboxes of a site when one of them has changed. */
export class MailboxStreams {
  readonly #watchers = new SiteWatchers('changes of this site’s mailboxes')
  readonly #heartbeatMs: number

  constructor(heartbeatMs = HEARTBEAT_MS) {
    this.#heartbeatMs = heartbeatMs
  }

  /** Receives changes that other replicas made. */
  listen(notifications: Pick<Notifications, 'listen'>): Promise<void> {
    return notifications.listen('croft_mail', {
      onMessage: ({ siteId, mailboxId }) => this.#watchers.wake(siteId, mailboxId),
      onGap: () => this.#watchers.wakeAll(),
    })
  }

  /** Changes from now on. Ends with the signal and when the service drains. At most 20 of a site at once. */
  follow(siteId: string, signal: AbortSignal): AsyncGenerator<ChangedMailboxes, void, undefined> {
    // Here and not in the generator: one stream too many is refused at once.
    return this.#changes(this.#watchers.watch(siteId, signal))
  }

  /** At drain: a stream would hold the server open for ever. */
  endStreams(): void {
    this.#watchers.close()
  }

  async *#changes(watcher: SiteWatcher): AsyncGenerator<ChangedMailboxes, void, undefined> {
    try {
      while (!watcher.signal.aborted) {
        const news = await watcher.wait(this.#heartbeatMs)
        if (news === 'ended') return
        yield watcher.reset()
      }
    } finally {
      watcher.leave()
    }
  }
}

/** Whether a change concerns this mailbox. */
export const concerns = (changed: ChangedMailboxes, mailboxId: string): boolean =>
  changed.has(mailboxId) || changed.has(ANY_TOPIC)
