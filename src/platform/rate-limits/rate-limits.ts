const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How much of something is admitted in a window, which begins with the first of it. */
export interface RateLimit {
  /** The name of its counts, before that of what is counted: keep it, counts may be in Redis. */
  readonly counter: string
  readonly most: number
  readonly windowMs: number
  /** What a caller is refused with; how long to wait follows. */
  readonly refusal: string
  /** Of a site's limits, as errors name it. */
  readonly name?: string
}

/**
 * The limits of what strangers, and those who act for a site, may do in a time. Guesses at passwords and codes of accounts have
 * rules of their own: `identity/rate-limits/`.
 */
export const RATE_LIMITS = {
  /** Submissions of a site's contact form, by network. */
  contactPerMinute: {
    counter: 'contact minute',
    most: 5,
    windowMs: MINUTE_MS,
    refusal: 'Too many messages from one place',
  },
  contactPerHour: {
    counter: 'contact hour',
    most: 20,
    windowMs: HOUR_MS,
    refusal: 'Too many messages from one place',
  },
  /** Wrong links of mails about forwarding, by network. */
  wrongForwardingLinks: {
    counter: 'forwarding link',
    most: 30,
    windowMs: 15 * MINUTE_MS,
    refusal: 'Too many wrong links from one place',
  },
  /** Mails that ask an address whether it takes forwarded mail: of the address, of the mailbox that names it, of the site. */
  forwardingTargetPerMinute: {
    counter: 'forwarding target minute',
    most: 1,
    windowMs: MINUTE_MS,
    refusal: 'This address was asked a moment ago',
  },
  forwardingTargetPerHour: {
    counter: 'forwarding target hour',
    most: 5,
    windowMs: HOUR_MS,
    refusal: 'This address was asked several times',
  },
  forwardingMailboxPerHour: {
    counter: 'forwarding mailbox',
    most: 40,
    windowMs: HOUR_MS,
    refusal: 'This mailbox asks too many addresses',
  },
  forwardingSitePerHour: {
    counter: 'forwarding site',
    most: 200,
    windowMs: HOUR_MS,
    refusal: 'This site asks too many addresses',
  },
  /** Recipients of what a mailbox, and all mailboxes of a site, send. */
  sendingMailboxPerMinute: {
    counter: 'sending',
    most: 120,
    windowMs: MINUTE_MS,
    refusal: 'At most 120 recipients a minute are sent to by this mailbox',
  },
  sendingSitePerMinute: {
    counter: 'sending',
    most: 600,
    windowMs: MINUTE_MS,
    refusal: 'At most 600 recipients a minute are sent to by this site',
  },
  /** Recipients of what the functions of a site send, and of these what callers without a token cause, by network. */
  functionMailPerHour: {
    counter: 'site-mail',
    most: 500,
    windowMs: HOUR_MS,
    refusal: 'A site may send mail to 500 recipients an hour',
    name: 'mailRecipientsPerHour',
  },
  functionMailOfStrangersPerHour: {
    counter: 'site-mail',
    most: 100,
    windowMs: HOUR_MS,
    refusal:
      'For callers without a token who share a network a site may send mail to 100 recipients an hour',
    name: 'mailRecipientsOfStrangersPerHour',
  },
  /** Wrong secrets of 256 bits, by their kind and network, of all sites together. */
  wrongSecrets: {
    counter: 'guess',
    most: 30,
    windowMs: 10 * MINUTE_MS,
    refusal: 'Too many wrong secrets came from your network',
  },
} as const satisfies Record<string, RateLimit>
