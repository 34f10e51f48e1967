import { Value } from '@sinclair/typebox/value'

import { invalid } from '#base/app-error.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'
import { t } from '#languages/message.ts'

/** Stands for all that is no address, and is no valid address, so that no account can have it. */
const NO_ADDRESS = 'invalid'

/** The address for looking up an account: invalid input costs as much as an unknown address. */
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
