import { randomBytes } from 'node:crypto'

import { notFound } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import type { MailboxOwnership } from '#identity/admin-users/mailbox-ownership.ts'
import type { OutboundMail, OutboundMessage } from '#identity/auth-emails/outbound-mail.ts'
import { type Identity, type IdentityDeps, openIdentity } from '#identity/identity.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { MemoryCounters } from '#platform/redis/memory-counters.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { SiteKeys } from '#sites/site-keys.ts'
import type { Onboarding } from '#sites/site-lifecycle.ts'
import type { Site } from '#sites/site.ts'

import { type TestDatabase, cloneDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

export const BASE_URL = 'http://localhost:8080'

/** A clock that is stopped until it is moved. */
class TestClock implements Clock {
  #ms = Date.parse('2026-11-20T12:00:00.250Z')

  now(): Date {
    return new Date(this.#ms)
  }

  forwardSeconds(seconds: number): void {
    this.#ms += seconds * 1000
  }
}

/** Mail at identity's own border: what it hands over, never sent. */
class KeptMail implements OutboundMail {
  readonly delivers = false
  readonly messages: OutboundMessage[] = []

  async enqueue(tx: SiteTx, _site: Site, message: OutboundMessage): Promise<void> {
    tx.onCommit(() => this.messages.push(message))
  }
}

/** Mail at its other border: no user owns a mailbox. */
const NO_MAILBOXES: MailboxOwnership = { async userDeleted() {} }

export type Replica = Identity & PostgresPlatform

export interface ReplicaOptions {
  /** Gets no notifications, as when they are lost. */
  readonly deaf?: true
  /** Works the queues. */
  readonly works?: true
  /** Lets a test look on. */
  readonly seenAs?: (database: Database) => Database
  readonly deps?: Partial<IdentityDeps>
}

/** The identity half of the service on a database of its own, as one replica or several. */
export class IdentityCluster implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly mail = new KeptMail()
  readonly sealer = new Sealer(randomBytes(32))
  readonly #clone: TestDatabase
  readonly #replicas: Replica[] = []
  readonly #stopping: (() => Promise<void>)[] = []
  readonly #sites = new Map<string, Site>()

  private constructor(clone: TestDatabase) {
    this.#clone = clone
  }

  static async start(): Promise<IdentityCluster> {
    return new IdentityCluster(await cloneDatabase())
  }

  /** The superuser's, who sees every row. */
  get databaseUrl(): string {
    return this.#clone.url
  }

  async replica(options: ReplicaOptions = {}): Promise<Replica> {
    const platform = await connectPostgres({ url: this.#clone.url, log: silentLog, poolSize: 5 })
    const queue = await openQueue({ ...platform, log: silentLog })
    this.#stopping.push(() => queue[Symbol.asyncDispose]())
    const identity = await openIdentity({
      database: options.seenAs?.(platform.database) ?? platform.database,
      notifications: options.deaf ? deafened(platform.notifications) : platform.notifications,
      sealer: this.sealer,
      siteKeys: new SiteKeys(),
      queue,
      counters: new MemoryCounters({ clock: this.clock }),
      siteOf: async (siteId) => this.#site(siteId),
      clock: this.clock,
      ids: randomIds,
      baseUrl: BASE_URL,
      consoleDomain: undefined,
      mail: this.mail,
      newKeyPair: () => this.#clone.keyPairs.next(),
      groupUses: { operationsFor: async () => [], renamed: async () => {} },
      mailboxOwnership: NO_MAILBOXES,
      ...options.deps,
    })
    if (options.works) this.#startWork(queue)
    const replica = { ...platform, ...identity }
    this.#replicas.push(replica)
    return replica
  }

  async createSite(
    replica: Replica,
    domain: string,
    superAdmins: readonly string[] = [`ann@${domain}`],
  ): Promise<{ site: Site; onboarding: readonly Onboarding[] }> {
    const siteId = randomIds.siteId()
    const site: Site = {
      siteId,
      domain,
      adminDomain: null,
      authDomain: null,
      formerAuthDomains: [],
      region: 'eu-central-1',
    }
    this.#sites.set(site.siteId, site)
    return replica.database.withSite(site.siteId, async (tx) => {
      await this.#insertSite(tx, site)
      const { onboarding = [] } = await replica.pools.created(tx, site, { superAdmins })
      return { site, onboarding }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stopping.toReversed()) await stop()
    for (const replica of this.#replicas) await replica[Symbol.asyncDispose]()
    await this.#clone[Symbol.asyncDispose]()
  }

  #startWork(queue: Queue): void {
    const working = new AbortController()
    const work = queue.run(working.signal)
    this.#stopping.push(() => {
      working.abort()
      return work
    })
  }

  #site(siteId: string): Site {
    const site = this.#sites.get(siteId)
    if (!site) throw notFound('Site', siteId)
    return site
  }

  async #insertSite(tx: SiteTx, site: Site): Promise<void> {
    await tx.db
      .insertInto('site')
      .values({
        site_id: site.siteId,
        domain: site.domain,
        region: site.region,
        source_mode: 'SITE_GIT',
        repo: null,
        repo_binding: '{}',
        deployment_settings: '{}',
        current_deployment_id: null,
      })
      .execute()
    const wrapped_key = this.sealer.newSiteKey(site.siteId)
    await tx.db.insertInto('site_key').values({ site_id: site.siteId, wrapped_key }).execute()
  }
}

const deafened = (notifications: Notifications): Notifications => ({
  notify: (tx, channel, message) => notifications.notify(tx, channel, message),
  listen: async () => {},
  confirm: () => {},
})
