import type { PasswordPolicy } from '#identity/pools/settings.ts'

import { normalizePassword } from './hasher.ts'

const MAX_PASSWORD_CHARACTERS = 256

/** From this length on kinds of characters are not asked for: length is worth more (NIST SP 800-63B, section 3.1.1.2). */
export const PASSPHRASE_LENGTH = 20
/** Of a passphrase: repeating a word is no length. */
const MIN_DISTINCT = 8

/** What a password is not to be made of. */
export interface PasswordOwner {
  readonly email: string
  /** The site's domain. */
  readonly domain: string
}

/** What a new password lacks, one sentence each; empty when it may be taken. A character is a Unicode code point. */
export function passwordFaults(
  policy: PasswordPolicy,
  password: string,
  { email, domain }: PasswordOwner,
): string[] {
  const text = normalizePassword(password)
  const characters = Array.from(text)
  const { length } = characters
  const isLong = length >= PASSPHRASE_LENGTH && new Set(characters).size >= MIN_DISTINCT
  const rules: readonly (readonly [boolean, string])[] = [
    [password.isWellFormed(), 'is not valid text'],
    [length >= policy.minimumLength, `must have at least ${policy.minimumLength} characters`],
    [length <= MAX_PASSWORD_CHARACTERS, `must have at most ${MAX_PASSWORD_CHARACTERS} characters`],
    [isLong || !policy.requireUppercase || /\p{Lu}/u.test(text), 'must have an uppercase letter'],
    [isLong || !policy.requireLowercase || /\p{Ll}/u.test(text), 'must have a lowercase letter'],
    [isLong || !policy.requireNumbers || /\p{Nd}/u.test(text), 'must have a digit'],
    [isLong || !policy.requireSymbols || /[^\p{L}\p{N}]/u.test(text), 'must have a symbol'],
    [!resembles(text, email), 'must not be the email address'],
    [!namesSite(text, domain), 'must not be the name of the site'],
  ]
  return rules.filter(([kept]) => !kept).map(([, fault]) => fault)
}

/** The address, in it or bare of digits and signs, is the first thing to guess. */
function resembles(password: string, email: string): boolean {
  const lower = password.toLowerCase()
  const address = email.toLowerCase()
  const [name = ''] = address.split('@')
  const bare = lower.replaceAll(/[\W\d_]/g, '')
  return lower.includes(address) || lower === name || (name.length > 3 && bare === name)
}

/** The domain, or its first label bare of digits and signs. */
function namesSite(password: string, domain: string): boolean {
  const lower = password.toLowerCase()
  const [label = ''] = domain.toLowerCase().split('.')
  const [bare, name] = [lower, label].map((text) => text.replaceAll(/[\W\d_]/g, ''))
  return (
    bare === domain.toLowerCase().replaceAll(/[\W\d_]/g, '') || (label.length > 2 && bare === name)
  )
}
