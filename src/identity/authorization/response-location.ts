import type { Pool } from '#identity/pools/model.ts'

import type { AuthorizationRequest, AuthorizationError } from './authorization-request.ts'

type Recipient = Pick<AuthorizationRequest, 'redirectUri' | 'state'> & {
  readonly pool: Pick<Pool, 'issuer'>
}

/** `iss` tells the client which issuer answers, so that no other can pass its code off as ours (RFC 9207). */
export const codeLocation = (to: Recipient, code: string): string => locationOf(to, { code })

export const errorLocation = (to: Recipient, { error, description }: AuthorizationError): string =>
  locationOf(to, { error, error_description: description })

/** The redirect URI stays as it was registered, its own query included. */
function locationOf(
  { redirectUri, state, pool }: Recipient,
  answer: Readonly<Record<string, string>>,
): string {
  const params = new URLSearchParams({
    ...answer,
    ...(state !== undefined && { state }),
    iss: pool.issuer,
  })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${params.toString()}`
}
