import { type MailLimits, mailLimits } from '#mail/quotas/limits.ts'

/** A mailbox that an address leads to, with what it and its site hold. Counts come as text. */
export interface TargetRow {
  /** The address that leads to it: of those asked for. */
  readonly matched: string
  readonly mailboxId: string
  readonly localPart: string
  readonly status: 'ACTIVE' | 'DISABLED'
  readonly usedBytes: string
  readonly usedMessages: string
  readonly quotaBytes: string | null
  readonly quotaMessages: string | null
  readonly siteBytes: string
  readonly siteMessages: string
  readonly deploymentSettings: unknown
}

/** A mailbox that takes mail, and how much more fits into it: as far as its own quota and the site's allow. */
interface RecipientMailbox {
  readonly mailboxId: string
  readonly localPart: string
  readonly freeBytes: number
  readonly freeMessages: number
}

/** Where mail to an address goes: to mailboxes, at least one; nowhere now; nowhere at all. */
export type RecipientResolution =
  | { readonly kind: 'deliverable'; readonly mailboxes: readonly RecipientMailbox[] }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unknown' }

/** Of the rows for an address and for what it is without its plus part: an exact address comes first. */
export function resolutionOf(rows: readonly TargetRow[], address: string): RecipientResolution {
  const exact = rows.filter(({ matched }) => matched === address)
  const targets = exact.length > 0 ? exact : rows
  if (targets.length === 0) return { kind: 'unknown' }
  const mailboxes = targets.filter(({ status }) => status === 'ACTIVE').map(recipientOf)
  return mailboxes.length === 0 ? { kind: 'disabled' } : { kind: 'deliverable', mailboxes }
}

function recipientOf(row: TargetRow): RecipientMailbox {
  const site: MailLimits = mailLimits(row.deploymentSettings)
  const { mailboxId, localPart } = row
  return {
    mailboxId,
    localPart,
    freeBytes: free([row.quotaBytes, row.usedBytes], [String(site.mailBytes), row.siteBytes]),
    freeMessages: free(
      [row.quotaMessages, row.usedMessages],
      [String(site.mailMessages), row.siteMessages],
    ),
  }
}

/** The least that is left of these quotas; null is no quota. */
const free = (...quotas: readonly (readonly [quota: string | null, used: string])[]): number =>
  Math.max(
    0,
    Math.min(
      ...quotas.map(([quota, used]) => (quota === null ? Infinity : Number(quota) - Number(used))),
    ),
  )
