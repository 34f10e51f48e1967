import { createHash } from 'node:crypto'

import type { PublishedOperation } from '#runtime/published/published-site.ts'

import type { Caller } from './admission.ts'
import { canonicalJson } from './canonical-json.ts'
import { payloadOf } from './request-body.ts'
import type { AnswerKey } from './response-cache.ts'

/** Parsing and sorting a longer body costs more than the chance that its keys come in another order. */
const MAX_CANONICAL = 64 * 1024
/** Longer entries are hashed, so that keys take no more memory than answers. */
const MAX_PLAIN_ENTRY = 512

export interface KeyedCall {
  readonly siteId: string
  readonly operation: PublishedOperation
  readonly visitor: Caller | null
  /** Bounded already. */
  readonly body: string
}

/** The exact text of a request and its caller: what two repeated requests have in common. */
export const aliasOf = ({ visitor, body }: KeyedCall): string =>
  `${visitor?.authText ?? ''}\n${body}`

/**
 * Who asked for what. The caller is part of it wherever the function sees one, with its groups, so that no answer
 * reaches another caller. Refuses a short body that a function could not be called with.
 */
export function answerKey(call: KeyedCall): AnswerKey {
  // A long body that is not valid is refused by whoever runs it, and then nothing is kept under this key.
  const asked =
    call.body.length > MAX_CANONICAL
      ? `raw ${call.body}`
      : `json ${canonicalPayload(payloadOf(call.body))}`
  const entry = `${call.visitor?.authText ?? ''}\n${asked}`
  return {
    siteId: call.siteId,
    group: call.operation.cacheGroup,
    entry: entry.length > MAX_PLAIN_ENTRY ? digest(entry) : entry,
  }
}

const canonicalPayload = (payload: unknown): string =>
  payload === undefined ? '' : canonicalJson(payload)

const digest = (text: string): string =>
  `sha256 ${createHash('sha256').update(text).digest('base64url')}`
