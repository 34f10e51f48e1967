import { AppError, type LocalizedText, faultOf } from '#base/app-error.ts'
import { PASSPHRASE_LENGTH } from '#identity/passwords/policy.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'
import { type Localized, type Words, say } from '#languages/message.ts'
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
  required(fields, 'code', say('fault.code-needed')).replaceAll(/[\s-]/g, '')

export const usernameField = (value: string | undefined): Field => ({
  name: 'username',
  label: say('field.email'),
  type: 'email',
  autocomplete: 'username',
  value,
})

export const newPasswordField = (policy: PasswordPolicy, label: Words): Field => ({
  name: 'password',
  label,
  type: 'password',
  autocomplete: 'new-password',
  hint: passwordPolicyText(policy),
})

export const codeField: Field = {
  name: 'code',
  label: say('field.code'),
  type: 'text',
  autocomplete: 'one-time-code',
  kind: 'code',
}

/** The second button of a form for a mailed code. */
export const SEND_AGAIN = {
  value: 'resend',
  label: say('code.send-again'),
  words: say('code.nothing-there'),
} as const

/** "At least 8 characters, with an uppercase letter, a digit and a symbol; or 20 of any kind." */
export function passwordPolicyText(policy: PasswordPolicy): Localized {
  const kinds = [
    ...(policy.requireUppercase ? [say('policy.uppercase')] : []),
    ...(policy.requireLowercase ? [say('policy.lowercase')] : []),
    ...(policy.requireNumbers ? [say('policy.digit')] : []),
    ...(policy.requireSymbols ? [say('policy.symbol')] : []),
  ]
  const count = policy.minimumLength
  return kinds.length === 0
    ? say('policy.length', { count })
    : say('policy.kinds', { count, kinds: listed(kinds), long: PASSPHRASE_LENGTH })
}

const ADDRESS = say('fault.address-needed')
const PASSWORD = say('fault.password-needed')

function required(fields: URLSearchParams, name: string, message: LocalizedText): string {
  const text = fields.get(name) ?? ''
  const value = name === 'password' ? text : text.trim()
  if (value !== '') return value
  throw missing(name, message)
}

const missing = (field: string, message: LocalizedText): AppError =>
  new AppError('ValidationError', message, { details: [faultOf(field, message)] })

/** What a page says whose code was sent again. */
export const resentNotice = ({ resent }: { readonly resent?: true }): Words | undefined =>
  resent ? say('code.sent-again') : undefined
