import { toStorable } from '#base/storable-text.ts'

import type { StoredMessage } from './message-store.ts'
import type { Arrival } from './model.ts'
import { traceHeader } from './trace-header.ts'

/** How a message came to a site, and for which of its mailboxes. */
interface Passage extends Pick<
  Arrival,
  'sender' | 'from' | 'deliveries' | 'receivedAt' | 'localKey'
> {
  readonly siteId: string
  /** The server's own name. */
  readonly hostname: string
}

/** What arrives at a site of a message whose bytes are stored. */
export function arrivalOf(
  stored: StoredMessage,
  { siteId, hostname, ...passage }: Passage,
): Arrival {
  const { sender, from } = passage
  const message = {
    ...passage,
    sender: toStorable(sender),
    from: { ...from, heloName: toStorable(from.heloName) },
    rawId: stored.rawIds.get(siteId) ?? '',
    sizeBytes: stored.sizeBytes,
    sha256: stored.sha256,
    authentication: stored.outcome.authentication,
    headers: stored.headers,
  }
  return { ...message, traceHeader: toStorable(traceHeader(message, hostname, stored.outcome)) }
}
