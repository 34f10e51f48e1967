import type { AuthorizationRequest, AuthorizationError } from './authorization-request.ts'

type Recipient = Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>

/** `iss` tells the client which issuer answers, so that no other can pass its code off as ours (RFC 9207). */
export const codeLocation = (to: Recipient, code: string): string => locationOf(to, { code })

export const errorLocation = (to: Recipient, { error, description }: AuthorizationError): string =>
  locationOf(to, { error, error_description: description })

/** The redirect URI stays as it was registered, its own query included. */
function locationOf(
  { redirectUri, state, issuer }: Recipient,
  answer: Readonly<Record<string, string>>,
): string {
  const params = new URLSearchParams({
    ...answer,
    ...(state !== undefined && { state }),
    iss: issuer,
  })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${params.toString()}`
}
