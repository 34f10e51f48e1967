import { AppError } from '#base/app-error.ts'
import { PASSPHRASE_LENGTH } from '#identity/passwords/policy.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'

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
  required(fields, 'code', 'Enter the code from the message').replaceAll(/[\s-]/g, '')

export const usernameField = (value: string | undefined): Field => ({
  name: 'username',
  label: 'Email address',
  type: 'email',
  autocomplete: 'username',
  value,
})

export const newPasswordField = (policy: PasswordPolicy, label: string): Field => ({
  name: 'password',
  label,
  type: 'password',
  autocomplete: 'new-password',
  hint: passwordPolicyText(policy),
})

export const codeField: Field = {
  name: 'code',
  label: 'Code',
  type: 'text',
  autocomplete: 'one-time-code',
  kind: 'code',
}

/** The second button of a form for a mailed code. */
export const SEND_AGAIN = {
  value: 'resend',
  label: 'send it again',
  words: 'Nothing there? Check your spam folder, or',
} as const

/** "At least 8 characters, with an uppercase letter, a digit and a symbol; or 20 of any kind." */
export function passwordPolicyText(policy: PasswordPolicy): string {
  const parts = [
    ...(policy.requireUppercase ? ['an uppercase letter'] : []),
    ...(policy.requireLowercase ? ['a lowercase letter'] : []),
    ...(policy.requireNumbers ? ['a digit'] : []),
    ...(policy.requireSymbols ? ['a symbol'] : []),
  ]
  const last = parts.pop()
  const length = `At least ${policy.minimumLength} characters`
  if (last === undefined) return `${length}.`
  const kinds = parts.length === 0 ? last : `${parts.join(', ')} and ${last}`
  return `${length}, with ${kinds}; or ${PASSPHRASE_LENGTH} of any kind.`
}

const ADDRESS = 'Enter your email address'
const PASSWORD = 'Enter a password'

function required(fields: URLSearchParams, name: string, message: string): string {
  const text = fields.get(name) ?? ''
  const value = name === 'password' ? text : text.trim()
  if (value !== '') return value
  throw missing(name, message)
}

const missing = (field: string, message: string): AppError =>
  new AppError('ValidationError', message, { details: [{ field, message }] })

/** What a page says whose code was sent again. */
export const resentNotice = ({ resent }: { readonly resent?: true }): string | undefined =>
  resent ? 'We have sent you a new code.' : undefined
