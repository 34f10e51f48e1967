import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type { Site } from '#sites/site.ts'

export const MAX_OWNERS = 50
const MAX_BYTES = 2 ** 50
const MAX_MESSAGES = 1_000_000_000
const MAX_RETENTION_DAYS = 365

const OWNERS_FAULT = `must be a list of 1 to ${MAX_OWNERS} ids of users`
const Owners = Type.Array(Type.String({ minLength: 1, maxLength: 254, pattern: '^[^\\u0000]*$' }), {
  minItems: 1,
  maxItems: MAX_OWNERS,
  fault: OWNERS_FAULT,
})

export const NewMailbox = ClosedObject({
  address: Type.String({ minLength: 1, maxLength: 512 }),
  owners: Owners,
})
export type NewMailbox = Static<typeof NewMailbox>

/** Users by their ids; their addresses are read, too. */
export const MailboxOwnerList = ClosedObject({ owners: Owners }, { title: 'MailboxOwners' })
export const OptionalOwnerList = ClosedObject({ owners: Type.Optional(Owners) })

export const PurgeConfirmation = ClosedObject({ confirm: Type.Optional(Type.Boolean()) })

export const Mailbox = Type.Object(
  {
    address: Type.String(),
    status: Type.Union([Type.Literal('ACTIVE'), Type.Literal('DISABLED')]),
    /** Ids of users of the admin pool. */
    owners: Type.Array(Type.String()),
  },
  { title: 'Mailbox' },
)
export type Mailbox = Static<typeof Mailbox>

const quota = (maximum: number) =>
  Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Null()], {
    fault: `must be a whole number from 0 to ${maximum}, or null for none but the site's`,
  })

const SETTINGS = {
  trashAutoPurge: Type.Boolean(),
  trashRetentionDays: Type.Integer({
    minimum: 1,
    maximum: MAX_RETENTION_DAYS,
    fault: `must be a whole number from 1 to ${MAX_RETENTION_DAYS}`,
  }),
  /** Null: as much as the site may hold. */
  quotaBytes: quota(MAX_BYTES),
  quotaMessages: quota(MAX_MESSAGES),
}

/** What is left out stays. */
export const MailboxSettingsChange = Type.Partial(ClosedObject(SETTINGS), {
  additionalProperties: false,
  minProperties: 1,
})
export type MailboxSettingsChange = Static<typeof MailboxSettingsChange>

/** What its messages hold, whatever their folder. */
const USAGE = { usage: Type.Object({ bytes: Type.Integer(), messages: Type.Integer() }) }

export const MailboxSettings = Type.Object(
  { mailbox: Type.String(), ...SETTINGS, ...USAGE },
  { title: 'MailboxSettings' },
)
export type MailboxSettings = Static<typeof MailboxSettings>

/** All that an operator sees of a mailbox. */
export const MailboxReport = Type.Object(
  {
    ...Mailbox.properties,
    /** In the order of `owners`. */
    ownerEmails: Type.Array(Type.String()),
    ...SETTINGS,
    ...USAGE,
  },
  { title: 'MailboxReport' },
)
export type MailboxReport = Static<typeof MailboxReport>

/** A mailbox as the site keeps it: without a domain, which is the site's. */
export interface OwnedMailbox {
  readonly mailboxId: string
  readonly localPart: string
  readonly status: Mailbox['status']
  /** In the order in which they came. */
  readonly owners: string[]
}

export const addressOf = (site: Pick<Site, 'domain'>, localPart: string): string =>
  `${localPart}@${site.domain}`

export const mailboxOf = (
  site: Pick<Site, 'domain'>,
  { localPart, status, owners }: OwnedMailbox,
): Mailbox => ({ address: addressOf(site, localPart), status, owners })

/** Owners that did not come as JSON. */
export function parseOwners(owners: readonly string[]): readonly string[] {
  if (Value.Check(Owners, owners)) return owners
  throw invalid('owners', OWNERS_FAULT)
}

/** Throws `ConfirmationRequired` unless it is there. */
export function requireConfirmation(
  address: string,
  { confirm }: Static<typeof PurgeConfirmation>,
): void {
  if (confirm === true) return
  throw new AppError(
    'ConfirmationRequired',
    `All mail of "${address}" would be deleted permanently: send {"confirm": true}`,
  )
}
