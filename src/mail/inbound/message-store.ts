import { AppError } from '#base/app-error.ts'
import { type MailHeaders, readMailHeaders } from '#mail/headers/mail-headers.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import {
  type AuthenticationOutcome,
  type AuthenticationRequest,
  authenticateMessage,
} from './authentication.ts'
import { type BodyReader, fanOut } from './fan-out.ts'
import { IncomingMessage } from './incoming-message.ts'

/** What is shorter is handed on in one piece. */
const MEMORY_BYTES = 256 * 1024
const CONTENT_TYPE = 'message/rfc822'

/** A message whose bytes are safe, once for each site. */
export interface StoredMessage {
  readonly sizeBytes: number
  readonly sha256: Buffer
  readonly headers: MailHeaders
  readonly outcome: AuthenticationOutcome
  readonly rawIds: ReadonlyMap<string, string>
}

/** Writes messages to the object store, and finds out who sent them while their bytes pass. */
export class MessageStore {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'objects' | 'ids' | 'logger'> & {
      readonly dns: DnsResolver
      readonly maxBytes: number
    },
  ) {
    this.#deps = deps
  }

  /** Nothing is kept when it rejects. Who sent it is found out, or known already. */
  async store(
    content: AsyncIterable<Uint8Array>,
    siteIds: readonly string[],
    by: AuthenticationRequest | { readonly outcome: AuthenticationOutcome },
  ): Promise<StoredMessage> {
    const { ids, objects, dns, maxBytes } = this.#deps
    const rawIds = new Map(siteIds.map((siteId) => [siteId, ids.named('raw')]))
    const message = new IncomingMessage(maxBytes)
    let outcome = 'outcome' in by ? by.outcome : undefined
    let read: { readonly bytes: number; readonly headers: MailHeaders } | undefined
    const readHeaders = (): MailHeaders => {
      const block = message.headerBlock()
      // The charset of raw bytes may depend on what has come since.
      if (read?.bytes !== block.length)
        read = { bytes: block.length, headers: readMailHeaders(block) }
      return read.headers
    }
    const authenticating: BodyReader = async (body) => {
      if ('outcome' in by) return
      const authors = (): readonly string[] => readHeaders().authorIdentifiers
      outcome = await authenticateMessage(body, { ...by, authors }, dns)
    }
    const readers = 'outcome' in by ? [] : [authenticating]
    const puts = [...rawIds].map(([siteId, rawId]): BodyReader => async (body) => {
      await objects.put(rawKey(siteId, rawId), body, { contentType: CONTENT_TYPE, maxBytes })
    })
    try {
      await fanOut(message.read(content), MEMORY_BYTES, [...puts, ...readers])
      if (outcome === undefined) throw new Error('A message was not authenticated')
      return {
        sizeBytes: message.sizeBytes,
        sha256: message.digest(),
        headers: readHeaders(),
        outcome,
        rawIds,
      }
    } catch (error) {
      await this.remove(rawIds)
      throw withoutRoom(error)
    }
  }

  /** For a message that has no rows and gets none. What cannot be removed now is found by the sweep for orphans. */
  async remove(rawIds: Iterable<readonly [siteId: string, rawId: string]>): Promise<void> {
    const removals = [...rawIds].map(([siteId, rawId]) =>
      this.#deps.objects.delete(rawKey(siteId, rawId)),
    )
    for (const removal of await Promise.allSettled(removals)) {
      if (removal.status === 'rejected') {
        this.#deps.logger.warn({ err: removal.reason }, 'a refused message was left behind')
      }
    }
  }
}

/** A full disk, of the objects or of Postgres, is the server's own trouble: RFC 3463, X.3.1. */
export function withoutRoom(error: unknown): unknown {
  return error instanceof AppError && error.code === 'DiskFull' ? noRoom(error) : error
}

export const noRoom = (cause?: unknown): SmtpReply =>
  new SmtpReply(452, '4.3.1', 'The server has no room left: try again later', { cause })
