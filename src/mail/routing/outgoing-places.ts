import type { HandleOptions } from '#platform/queue/queue.ts'

type OutgoingQueue = 'outbound-mail' | 'site-mail' | 'mail-delivery'

/** Of the messages on their way at once, those to one domain, in all processes. */
const PER_DOMAIN = 2
/** A gateway that checks a recipient while it is asked takes seconds for each of its domain. */
const SLOW_MS = 2000

/**
 * How many messages are on their way at once. A place is a connection to the gateway: \`SmtpGateway\` has one for each, so that no
 * message that is claimed waits for another. Those of the service have connections of their own.
 */
export const OUTGOING_PLACES = {
  'outbound-mail': {
    concurrency: 2,
    oneEach: 1,
    retryPlaces: 1,
    slow: { afterMs: SLOW_MS, places: 2 },
    perGroup: PER_DOMAIN,
  },
  'site-mail': {
    concurrency: 2,
    oneEach: 1,
    retryPlaces: 1,
    slow: { afterMs: SLOW_MS, places: 2 },
    perGroup: PER_DOMAIN,
  },
  'mail-delivery': {
    concurrency: 4,
    oneEach: 2,
    retryPlaces: 2,
    slow: { afterMs: SLOW_MS, places: 10 },
    perGroup: PER_DOMAIN,
  },
} as const satisfies Record<OutgoingQueue, Omit<HandleOptions<never>, 'givenUp'>>

/** What messages to one domain are grouped by. */
export const domainOf = (recipient: string): string =>
  recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase()
