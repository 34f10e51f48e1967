import { createHash, createHmac } from 'node:crypto'

import { isJsonObject } from '#base/json-object.ts'
import { isSameText } from '#base/same-text.ts'

/** What a forge sent, as it came. */
export interface WebhookDelivery {
  readonly headers: Pick<Headers, 'get'>
  readonly body: string
}

/** Whether a request carries anything that could prove who sent it. */
export const isSigned = ({ headers }: Pick<WebhookDelivery, 'headers'>): boolean =>
  ['x-hub-signature-256', 'x-gitea-signature', 'x-gitlab-token'].some((name) => headers.get(name))

/**
 * Whether a delivery was sent by a holder of the secret. GitHub, Gitea and Forgejo sign the body (HMAC-SHA256); GitLab sends the
 * secret itself.
 */
export function isAuthentic({ headers, body }: WebhookDelivery, secret: string): boolean {
  const token = headers.get('x-gitlab-token')
  if (token !== null) return isSameText(token, secret)
  const signature =
    headers.get('x-hub-signature-256')?.replace(/^sha256=/, '') ?? headers.get('x-gitea-signature')
  const expected = createHmac('sha256', secret).update(body).digest('hex')
  return isSameText(signature?.toLowerCase() ?? '', expected)
}

/** The ref that was pushed, in full; undefined for an event that is no push, and for a branch that went. */
export function pushedRef({ headers, body }: WebhookDelivery): string | undefined {
  const event =
    headers.get('x-github-event') ?? headers.get('x-gitea-event') ?? headers.get('x-gitlab-event')
  if (event !== 'push' && event !== 'Push Hook') return undefined
  const payload = payloadOf({ headers, body })
  if (!isJsonObject(payload) || typeof payload['ref'] !== 'string') return undefined
  const after = payload['after']
  return typeof after === 'string' && /^0+$/.test(after) ? undefined : payload['ref']
}

/** Names a delivery; one that the forge sends again has the same name. */
export function deliveryDigest({ headers, body }: WebhookDelivery): Buffer {
  const name =
    headers.get('x-github-delivery') ??
    headers.get('x-gitea-delivery') ??
    headers.get('x-gitlab-event-uuid') ??
    body
  return createHash('sha256').update(name).digest()
}

/** JSON, or a form with JSON in it, as GitHub sends unless it is told otherwise. */
function payloadOf({ headers, body }: WebhookDelivery): unknown {
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  try {
    return JSON.parse(isForm ? (new URLSearchParams(body).get('payload') ?? '') : body)
  } catch {
    // What is no JSON names no ref.
    return undefined
  }
}
