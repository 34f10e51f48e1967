import type { DisplayText } from '#base/app-error.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'
import { t } from '#languages/message.ts'

import { normalizePassword } from './hasher.ts'

const MAX_PASSWORD_CHARACTERS = 256

/** From this length on kinds of characters are not asked for: length is worth more (NIST SP 800-63B, section 3.1.1.2). */
export const PASSPHRASE_LENGTH = 20
/** Of a passphrase: repeating a word is no length. */
const MIN_DISTINCT = 8
/** Shorter names and labels are part of too many passwords. */
const MIN_NAME = 4
const MIN_LABEL = 3

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
): DisplayText[] {
  const text = normalizePassword(password)
  const characters = Array.from(text)
  const { length } = characters
  const isLong = length >= PASSPHRASE_LENGTH && new Set(characters).size >= MIN_DISTINCT
  const rules: readonly (readonly [boolean, DisplayText])[] = [
    [password.isWellFormed(), t('fault.password-text')],
    [length >= policy.minimumLength, t('fault.password-short', { count: policy.minimumLength })],
    [
      length <= MAX_PASSWORD_CHARACTERS,
      t('fault.password-long', { count: MAX_PASSWORD_CHARACTERS }),
    ],
    [isLong || !policy.requireUppercase || /\p{Lu}/u.test(text), t('fault.password-uppercase')],
    [isLong || !policy.requireLowercase || /\p{Ll}/u.test(text), t('fault.password-lowercase')],
    [isLong || !policy.requireNumbers || /\p{Nd}/u.test(text), t('fault.password-digit')],
    [isLong || !policy.requireSymbols || /[^\p{L}\p{N}]/u.test(text), t('fault.password-symbol')],
    [!resembles(text, email), t('fault.password-email')],
    [!namesSite(text, domain), t('fault.password-site')],
  ]
  return rules.filter(([kept]) => !kept).map(([, fault]) => fault)
}

/** The address in it, or the name before the `@`: the first thing to guess. */
function resembles(password: string, email: string): boolean {
  const lower = password.toLowerCase()
  const address = email.toLowerCase()
  const [name = ''] = address.split('@')
  const [untagged = ''] = name.split('+')
  return (
    lower.includes(address) ||
    lower === name ||
    [name, untagged].some((word) => isDecorated(lower, word, MIN_NAME))
  )
}

/** The domain or its first label. */
function namesSite(password: string, domain: string): boolean {
  const [label = ''] = domain.split('.')
  return [domain, label].some((word) =>
    isDecorated(password.toLowerCase(), word.toLowerCase(), MIN_LABEL),
  )
}

/** Whether the two are equal without signs, or without signs and digits. What is left of the word has that many characters. */
const isDecorated = (password: string, word: string, least: number): boolean =>
  [/[^\p{L}\p{N}]/gu, /\P{L}/gu].some((decoration) => {
    const core = word.replaceAll(decoration, '')
    return Array.from(core).length >= least && password.replaceAll(decoration, '') === core
  })
