import { createHash } from 'node:crypto'

import { invalid } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import type { RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'

const HEADER = 'Idempotency-Key'
const KEY = /^[\x21-\x7e]{1,255}$/

/** What `Idempotency-Key` makes of a request; undefined without one. `scope` names route and caller. */
export function idempotentRequest(
  request: Request,
  scope: string,
  body: unknown,
): RepeatableRequest | undefined {
  const key = request.headers.get(HEADER)
  if (key === null) return undefined
  if (!KEY.test(key)) throw invalid(HEADER, 'must be 1 to 255 visible ASCII characters')
  const digest = createHash('sha256').update(canonicalJson(body)).digest()
  return { scope, key, digest }
}
