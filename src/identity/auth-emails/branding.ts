import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import type { PoolKind } from '#identity/pool-kind.ts'

export const MESSAGE_TYPES = ['adminVerificationEmail', 'dataVerificationEmail'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

/** Where a mailed code appears in a branded subject or body. */
export const CODE_PLACEHOLDER = '{{code}}'

const MAX_SUBJECT = 140
const MAX_HTML = 20_000
const closed = { additionalProperties: false }

export const Branding = Type.Object({ subject: Type.String(), htmlBody: Type.String() }, closed)
export type Branding = Static<typeof Branding>

const Setting = Type.Union([Branding, Type.Null()])

/** A type that is left out stays as it is; null gives it back its usual words. */
export const BrandingChange = Type.Object(
  {
    adminVerificationEmail: Type.Optional(Setting),
    dataVerificationEmail: Type.Optional(Setting),
  } satisfies Record<MessageType, unknown>,
  closed,
)
export type BrandingChange = Static<typeof BrandingChange>

export const Brandings = Type.Object(
  { adminVerificationEmail: Setting, dataVerificationEmail: Setting } satisfies Record<
    MessageType,
    unknown
  >,
  closed,
)
export type Brandings = Static<typeof Brandings>

/** The message type of a pool's mailed codes. */
export const messageTypeOf = (pool: PoolKind): MessageType =>
  pool === 'admin' ? 'adminVerificationEmail' : 'dataVerificationEmail'

/** Throws what is wrong with it. */
export function assertBranding(type: MessageType, { subject, htmlBody }: Branding): void {
  assertText(`${type}.subject`, subject, MAX_SUBJECT)
  assertText(`${type}.htmlBody`, htmlBody, MAX_HTML)
  // It would end the header and begin another.
  if (/[\p{Cc}\u2028\u2029]/u.test(subject)) {
    throw invalid(`${type}.subject`, 'must be one line without control characters')
  }
  if (!htmlBody.includes(CODE_PLACEHOLDER)) {
    const message = `must contain ${CODE_PLACEHOLDER}, where the code will be`
    const field = `${type}.htmlBody`
    throw new AppError('MissingPlaceholder', `${field}: ${message}`, {
      details: [{ field, message }],
    })
  }
}

function assertText(field: string, text: string, maxLength: number): void {
  if (text.trim() === '') throw invalid(field, 'must not be empty')
  if (text.length > maxLength) {
    throw invalid(field, `must not have more than ${maxLength} characters`)
  }
  // What PostgreSQL does not keep.
  if (text.includes('\0') || !text.isWellFormed()) {
    throw invalid(field, 'must be text without NUL and without half a surrogate pair')
  }
}
