import { randomBytes } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Actor } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import { type LimitedUse, RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'
import { type Repo, storedSource } from '#sites/source.ts'

import {
  type WebhookDelivery,
  deliveryDigest,
  isAuthentic,
  isSigned,
  pushedRef,
} from './delivery.ts'
import {
  deleteOldDeliveries,
  deleteWebhook,
  insertDelivery,
  selectWebhook,
  selectWebhookSource,
  upsertWebhook,
} from './queries.ts'

export const WEBHOOK_PATH = '/admin/public/webhooks/deploy'

const SECRET_BYTES = 32
/** What the secret is sealed for, with the key of its site. */
export const WEBHOOK_SEAL_CONTEXT = 'deploy-webhook'
const REMEMBERED_MS = 7 * 24 * 3_600_000

/** What a forge is set up with. The secret is shown this once. */
export const CreatedWebhook = Type.Object({ url: Type.String(), secret: Type.String() })
export type CreatedWebhook = Static<typeof CreatedWebhook>

export const WebhookAnswer = Type.Object({
  status: Type.Union([Type.Literal('queued'), Type.Literal('ignored'), Type.Literal('repeated')]),
  reason: Type.Optional(Type.String()),
})
export type WebhookAnswer = Static<typeof WebhookAnswer>

/** Counted afterwards, since many may come from one network at the same moment, and 256 bits are not guessed. */
const wrongSecret = (address: string): LimitedUse => ({
  limit: RATE_LIMITS.wrongSecrets,
  siteId: 'deploy-webhooks',
  of: networkOf(address),
})

/** How the forge of an external repository tells that it was pushed to, so that the site is deployed. */
export class DeployWebhooks {
  readonly #deps
  readonly #rateLimiter: RateLimiter

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock'> & {
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
      readonly events: Pick<SecurityEvents, 'record'>
      readonly counters: Counters
      readonly baseUrl: string
    },
  ) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
  }

  /** A new secret. One that was made before is good no more. */
  create({ siteId, domain }: Site, by: Actor): Promise<CreatedWebhook> {
    const { database, sealer, siteKeys, events, clock, baseUrl } = this.#deps
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    return database.withSite(siteId, async (tx) => {
      const key = await siteKeys.wrapped(tx)
      await upsertWebhook(
        tx,
        sealer.seal(key, WEBHOOK_SEAL_CONTEXT, Buffer.from(secret)),
        clock.now(),
      )
      await events.record(tx, { event: 'deploy-webhook.created', by })
      return { url: `${siteBaseUrl(baseUrl, domain)}${WEBHOOK_PATH}`, secret }
    })
  }

  /** 404 `DeployWebhookNotFound` when the site has none. */
  async end({ siteId, domain }: Site, by: Actor): Promise<void> {
    const { database, events } = this.#deps
    await database.withSite(siteId, async (tx) => {
      if (!(await deleteWebhook(tx))) throw notFound('DeployWebhook', domain)
      await events.record(tx, { event: 'deploy-webhook.ended', by })
    })
  }

  /** Refuses, before a body is read, whom nothing could prove to be the forge, and networks that guess. */
  async admit(headers: Headers, address: string): Promise<void> {
    await this.#rateLimiter.check(wrongSecret(address))
    if (!isSigned({ headers })) throw unsigned()
  }

  /** Queues a deployment when the site's branch was pushed. 401 for what its secret did not sign. */
  async receive(
    { siteId }: Site,
    delivery: WebhookDelivery,
    address: string,
  ): Promise<WebhookAnswer> {
    const { database, queue, clock } = this.#deps
    const { secret, repo } = await this.#read(siteId)
    if (secret === undefined || !isAuthentic(delivery, secret)) {
      await this.#rateLimiter.add(wrongSecret(address))
      throw unsigned()
    }
    const reason = reasonToIgnore(repo, pushedRef(delivery))
    if (reason !== undefined) return { status: 'ignored', reason }
    const now = clock.now()
    return database.withSite(siteId, async (tx) => {
      await deleteOldDeliveries(tx, new Date(now.getTime() - REMEMBERED_MS))
      if (!(await insertDelivery(tx, deliveryDigest(delivery), now))) return { status: 'repeated' }
      await queue.enqueue(
        tx,
        'repository-fetch',
        { siteId },
        { singletonKey: siteId, group: siteId },
      )
      return { status: 'queued' }
    })
  }

  #read(siteId: string) {
    const { database, sealer, siteKeys } = this.#deps
    return database.withSite(siteId, async (tx) => {
      const source = await selectWebhookSource(tx)
      if (!source) throw notFound('Site', siteId)
      const { repo } = storedSource(source)
      const sealed = await selectWebhook(tx)
      if (!sealed) return { repo, secret: undefined }
      const key = await siteKeys.wrapped(tx)
      return { repo, secret: sealer.open(key, WEBHOOK_SEAL_CONTEXT, sealed).toString() }
    })
  }
}

function reasonToIgnore(repo: Repo | null, ref: string | undefined): string | undefined {
  if (repo === null) return 'The site has a repository of its own'
  if (ref === undefined) return 'It tells of no push to a branch'
  return ref === `refs/heads/${repo.branch}` ? undefined : `Only "${repo.branch}" is deployed`
}

const unsigned = (): AppError =>
  new AppError(
    'Unauthorized',
    'The delivery is not signed with the secret of the site (X-Hub-Signature-256, X-Gitea-Signature or X-Gitlab-Token)',
  )
