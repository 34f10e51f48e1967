import { Type } from '@sinclair/typebox'

import { asciiDomain } from '#base/domain-name.ts'

/**
 * Neither blanks and control characters, nor what a mail header gives a meaning, nor invisible marks: two accounts must not look
 * the same.
 */
const PART =
  '[^\\s@"<>()\\[\\]\\\\,;:\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ud800-\\udfff]+'

/** What sign-in takes for an address: one `@`, RFC 5321's length. Whether it receives mail is proven by a code. */
export const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^${PART}@${PART}$`,
  fault: 'must be an email address',
})

/** An address, or null for none. */
export const OptionalAddress = Type.Union([EmailAddress, Type.Null()], {
  fault: 'must be an email address, or null for none',
})

/** The one spelling under which an address is stored and looked up: lower case, the domain in ASCII as DNS has it. */
export function canonicalEmail(email: string): string {
  const lower = email.trim().toLowerCase()
  const at = lower.lastIndexOf('@') + 1
  return lower.slice(0, at) + (asciiDomain(lower.slice(at)) ?? lower.slice(at))
}
