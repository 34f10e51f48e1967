import { randomBytes, createHash, createHmac } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Actor } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { isJsonObject } from '#base/json-object.ts'
import { isSameText } from '#base/same-text.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
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

/** The delivery of a forge, unchanged. */
interface WebhookDelivery {
  readonly headers: Pick<Headers, 'get'>
  readonly body: string
}

/** Counted afterwards, since many may come from one network at the same moment, and 256 bits are not guessed. */
const wrongSecret = (address: string): LimitedUse => ({
  limit: RATE_LIMITS.wrongSecrets,
  siteId: 'deploy-webhooks',
  of: ipPrefix(address),
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

  /** Refuses, before a body is read, a sender that nothing could prove to be the forge, and networks that guess. */
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
  if (ref === undefined) return 'It reports no push to a branch'
  return ref === `refs/heads/${repo.branch}` ? undefined : `Only "${repo.branch}" is deployed`
}

const unsigned = (): AppError =>
  new AppError(
    'Unauthorized',
    'The delivery is not signed with the secret of the site (X-Hub-Signature-256, X-Gitea-Signature or X-Gitlab-Token)',
  )

/** Whether a request carries anything that could prove who sent it. */
const isSigned = ({ headers }: Pick<WebhookDelivery, 'headers'>): boolean =>
  ['x-hub-signature-256', 'x-gitea-signature', 'x-gitlab-token'].some((name) => headers.get(name))

/**
 * Whether a delivery was sent by a holder of the secret. GitHub, Gitea and Forgejo sign the body (HMAC-SHA256); GitLab sends the
 * secret itself.
 */
function isAuthentic({ headers, body }: WebhookDelivery, secret: string): boolean {
  const token = headers.get('x-gitlab-token')
  if (token !== null) return isSameText(token, secret)
  const signature =
    headers.get('x-hub-signature-256')?.replace(/^sha256=/, '') ?? headers.get('x-gitea-signature')
  const expected = createHmac('sha256', secret).update(body).digest('hex')
  return isSameText(signature?.toLowerCase() ?? '', expected)
}

/** The ref that was pushed, in full; undefined for an event that is no push, and for a branch that went. */
function pushedRef({ headers, body }: WebhookDelivery): string | undefined {
  const event =
    headers.get('x-github-event') ?? headers.get('x-gitea-event') ?? headers.get('x-gitlab-event')
  if (event !== 'push' && event !== 'Push Hook') return undefined
  const payload = payloadOf({ headers, body })
  if (!isJsonObject(payload) || typeof payload['ref'] !== 'string') return undefined
  const after = payload['after']
  return typeof after === 'string' && /^0+$/.test(after) ? undefined : payload['ref']
}

/** Names a delivery; one that the forge sends again has the same name. */
function deliveryDigest({ headers, body }: WebhookDelivery): Buffer {
  const name =
    headers.get('x-github-delivery') ??
    headers.get('x-gitea-delivery') ??
    headers.get('x-gitlab-event-uuid') ??
    body
  return createHash('sha256').update(name).digest()
}

/** JSON, or a form with JSON in it, as GitHub sends by default. */
function payloadOf({ headers, body }: WebhookDelivery): unknown {
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  try {
    return JSON.parse(isForm ? (new URLSearchParams(body).get('payload') ?? '') : body)
  } catch {
    // What is no JSON names no ref.
    return undefined
  }
}
