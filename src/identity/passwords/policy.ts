import type { PasswordPolicy } from '#identity/pools/settings.ts'

import { normalizePassword } from './hasher.ts'

const MAX_PASSWORD_CHARACTERS = 256

/** What a new password lacks, one sentence each; empty when it may be taken. A character is a Unicode code point. */
export function passwordFaults(policy: PasswordPolicy, password: string, email: string): string[] {
  const text = normalizePassword(password)
  const length = Array.from(text).length
  const rules: readonly (readonly [boolean, string])[] = [
    [password.isWellFormed(), 'is not valid text'],
    [length >= policy.minimumLength, `must have at least ${policy.minimumLength} characters`],
    [length <= MAX_PASSWORD_CHARACTERS, `must have at most ${MAX_PASSWORD_CHARACTERS} characters`],
    [!policy.requireUppercase || /\p{Lu}/u.test(text), 'must have an uppercase letter'],
    [!policy.requireLowercase || /\p{Ll}/u.test(text), 'must have a lowercase letter'],
    [!policy.requireNumbers || /\p{Nd}/u.test(text), 'must have a digit'],
    [!policy.requireSymbols || /[^\p{L}\p{N}]/u.test(text), 'must have a symbol'],
    [!resembles(text, email), 'must not be the email address'],
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
