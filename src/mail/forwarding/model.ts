import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'
import type { Site } from '#sites/site.ts'

export const MAX_FORWARDING_TARGETS = 20
const MAX_LENGTH = 254

const FAULT = `must be a list of 1 to ${MAX_FORWARDING_TARGETS} email addresses`
const Targets = Type.Array(EmailAddress, {
  minItems: 1,
  maxItems: MAX_FORWARDING_TARGETS,
  fault: FAULT,
})

export const ForwardingTargetList = ClosedObject({ targets: Targets })
export const OptionalForwardingTargetList = ClosedObject({ targets: Type.Optional(Targets) })

const SETTINGS = { enabled: Type.Boolean(), keepCopy: Type.Boolean() }

/** What is left out stays. */
export const ForwardingChange = Type.Partial(ClosedObject(SETTINGS), {
  additionalProperties: false,
  minProperties: 1,
})
export type ForwardingChange = Static<typeof ForwardingChange>

const STATUS = {
  target: Type.String(),
  status: Type.Union([Type.Literal('PENDING'), Type.Literal('VERIFIED')]),
}

export const ForwardingSettings = Type.Object(
  {
    mailbox: Type.String(),
    ...SETTINGS,
    targets: Type.Array(Type.Object(STATUS)),
  },
  { title: 'ForwardingSettings' },
)
export type ForwardingSettings = Static<typeof ForwardingSettings>

export const ForwardingTargetPage = Type.Object({
  mailbox: Type.String(),
  items: Type.Array(Type.Object({ ...STATUS, createdAt: Type.String() })),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})
export type MailboxTargets = Omit<Static<typeof ForwardingTargetPage>, 'nextToken'>

export const AddedForwardingTargets = Type.Object({
  mailbox: Type.String(),
  items: Type.Array(
    Type.Object({
      ...STATUS,
      /** False also where the mail is left out: for a verified target, an address that mail came back from, or too many. */
      verificationSent: Type.Boolean(),
    }),
  ),
})
export type AddedForwardingTargets = Static<typeof AddedForwardingTargets>

/** The request of a mailed link, and whether its recipient has agreed. */
export const ForwardingConsent = Type.Object({ mailbox: Type.String(), ...STATUS })
export type ForwardingConsent = Static<typeof ForwardingConsent>

/** The default settings of a mailbox. */
export const NO_FORWARDING = { enabled: false, keepCopy: true } as const

/** Where the mail of a mailbox goes now: to verified targets, at least one. */
export interface ForwardingRoute {
  readonly mailboxId: string
  readonly keepCopy: boolean
  readonly targets: readonly string[]
}

export interface StoredForwardingTarget {
  readonly target: string
  readonly createdAt: Date
  readonly verifiedAt: Date | null
}

export const targetStatusOf = ({
  verifiedAt,
}: Pick<StoredForwardingTarget, 'verifiedAt'>): 'PENDING' | 'VERIFIED' =>
  verifiedAt === null ? 'PENDING' : 'VERIFIED'

/** The one spelling under which a target is stored; undefined for what mail cannot be sent to. */
export function canonicalTarget(text: string): string | undefined {
  const target = envelopeAddress(canonicalEmail(text))?.toLowerCase()
  return target === undefined || target.length > MAX_LENGTH ? undefined : target
}

/** Each once, as it is stored. Refuses what mail cannot be sent to. */
export function parseForwardingTargets(targets: readonly string[]): readonly string[] {
  if (!Value.Check(Targets, targets)) throw invalid('targets', FAULT)
  const parsed = targets.map((text, at) => {
    const target = canonicalTarget(text)
    if (target !== undefined) return target
    throw invalid(`targets[${at}]`, 'must be an email address')
  })
  return [...new Set(parsed)].toSorted()
}

/** 409 `MailboxDisabled` for a mailbox that takes no mail. */
export function requireActive(site: Site, { status, localPart }: OwnedMailbox): void {
  if (status === 'ACTIVE') return
  throw new AppError(
    'MailboxDisabled',
    `"${addressOf(site, localPart)}" is disabled: nothing is forwarded from it`,
  )
}
