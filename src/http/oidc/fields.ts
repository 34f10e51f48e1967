import { AppError, type DisplayText, faultOf } from '#base/app-error.ts'
import { PASSPHRASE_LENGTH } from '#identity/passwords/policy.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'
import { type Localized, type LocalizedText, t } from '#languages/message.ts'
import { listed } from '#languages/spans.ts'

import type { Field } from './pages/field.ts'

/** Longer than any address. The limit bounds the URL of the next page, which carries the address. */
const MAX_USERNAME = 320

/** The address without the spaces around it, which keyboards that complete words add. */
export function readUsername(fields: URLSearchParams): string {
  const username = required(fields, 'username', ADDRESS)
  if (username.length > MAX_USERNAME) throw missing('username', ADDRESS)
  return username
}

export const readPassword = (fields: URLSearchParams): string =>
  required(fields, 'password', PASSWORD)

/** The mailed code without spaces, with which people copy it. */
export const readCode = (fields: URLSearchParams): string =>
  required(fields, 'code', t('fault.code-needed')).replaceAll(/[\s-]/g, '')

export const usernameField = (value: string | undefined): Field => ({
  name: 'username',
  label: t('field.email'),
  type: 'email',
  autocomplete: 'username',
  value,
})

export const newPasswordField = (policy: PasswordPolicy, label: LocalizedText): Field => ({
  name: 'password',
  label,
  type: 'password',
  autocomplete: 'new-password',
  hint: passwordPolicyText(policy),
})

export const codeField: Field = {
  name: 'code',
  label: t('field.code'),
  type: 'text',
  autocomplete: 'one-time-code',
  kind: 'code',
}

/** The second button of a form for a mailed code. */
export const SEND_AGAIN = {
  value: 'resend',
  label: t('code.send-again'),
  words: t('code.nothing-there'),
} as const

/** "At least 8 characters, with an uppercase letter, a digit and a symbol; or 20 of any kind." */
export function passwordPolicyText(policy: PasswordPolicy): Localized {
  const kinds = [
    ...(policy.requireUppercase ? [t('policy.uppercase')] : []),
    ...(policy.requireLowercase ? [t('policy.lowercase')] : []),
    ...(policy.requireNumbers ? [t('policy.digit')] : []),
    ...(policy.requireSymbols ? [t('policy.symbol')] : []),
  ]
  const count = policy.minimumLength
  return kinds.length === 0
    ? t('policy.length', { count })
    : t('policy.kinds', { count, kinds: listed(kinds), long: PASSPHRASE_LENGTH })
}

const ADDRESS = t('fault.address-needed')
const PASSWORD = t('fault.password-needed')

function required(fields: URLSearchParams, name: string, message: DisplayText): string {
  const text = fields.get(name) ?? ''
  const value = name === 'password' ? text : text.trim()
  if (value !== '') return value
  throw missing(name, message)
}

const missing = (field: string, message: DisplayText): AppError =>
  new AppError('ValidationError', message, { details: [faultOf(field, message)] })

/** What a page says whose code was sent again. */
export const resentNotice = ({ resent }: { readonly resent?: true }): LocalizedText | undefined =>
  resent ? t('code.sent-again') : undefined
