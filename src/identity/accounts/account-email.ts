import { Value } from '@sinclair/typebox/value'

import { invalid } from '#base/app-error.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'
import { t } from '#languages/message.ts'

/** Stands for everything that is no address, and is none, so nobody can have it. */
const NO_ADDRESS = 'invalid'

/** For looking somebody up: what is no address costs what an unknown one does. */
export function lookupEmail(typed: string): string {
  const email = canonicalEmail(typed)
  return isAddress(email) ? email : NO_ADDRESS
}

/** For a new account. 400 `ValidationError`. */
export function newEmail(typed: string): string {
  const email = canonicalEmail(typed)
  if (!isAddress(email)) throw invalid('email', t('fault.email'))
  return email
}

const isAddress = (email: string): boolean =>
  Value.Check(EmailAddress, email) && email.isWellFormed()
