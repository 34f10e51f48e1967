import { createHash } from 'node:crypto'

import { canonicalJson } from '#base/canonical-json.ts'
import type { CallAuthority } from '#platform/sandbox-host/sandbox.ts'
import type { PublishedOperation } from '#runtime/published/published-site.ts'

import { payloadOf } from './request-body.ts'
import type { AnswerKey } from './response-cache.ts'

/** Parsing and sorting a longer body costs more than the chance that its keys come in another order. */
const MAX_CANONICAL = 64 * 1024
/** Longer entries are hashed, so that keys take no more memory than answers. */
const MAX_PLAIN_ENTRY = 512

export interface KeyedCall {
  readonly siteId: string
  readonly operation: PublishedOperation
  readonly authority: CallAuthority
  /** Bounded already. */
  readonly body: string
}

/** The exact text of a request and its caller: what two repeated requests have in common. */
export const aliasOf = ({ authority, body }: KeyedCall): string =>
  `${callerText(authority)}\n${body}`

/**
 * Who asked for what. The caller is part of it wherever the function sees one, with its groups, so that no answer
 * reaches another caller; so is the site's own authority, whose nested calls open what strangers may not. Refuses a short body that a function could not be called with.
 */
export function answerKey(call: KeyedCall): AnswerKey {
  // A long body that is not valid is refused by whoever runs it, and then nothing is kept under this key.
  const asked =
    call.body.length > MAX_CANONICAL
      ? `raw ${call.body}`
      : `json ${canonicalPayload(payloadOf(call.body))}`
  const entry = `${callerText(call.authority)}\n${asked}`
  return {
    siteId: call.siteId,
    group: call.operation.cacheGroup,
    entry: entry.length > MAX_PLAIN_ENTRY ? digest(entry) : entry,
  }
}

/** The text of a caller is JSON: it is never one of the other two. */
function callerText(authority: CallAuthority): string {
  if (authority === null) return ''
  return authority === 'system' ? authority : authority.authText
}

const canonicalPayload = (payload: unknown): string =>
  payload === undefined ? '' : canonicalJson(payload)

const digest = (text: string): string =>
  `sha256 ${createHash('sha256').update(text).digest('base64url')}`
