import { OAuthError } from './oauth-error.ts'

/** How a request names its client and proves that it comes from it; an empty value counts as none. */
export interface ClientClaim {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly clientAssertion: string | undefined
  readonly clientAssertionType: string | undefined
  readonly authorization: string | undefined
}

/** What a request says of its client, in whichever of the ways. */
export type ClaimedClient =
  | { readonly kind: 'public'; readonly clientId: string }
  | { readonly kind: 'secret'; readonly clientId: string; readonly secret: string }
  /** `clientId` is named beside the assertion, which names it itself. */
  | {
      readonly kind: 'assertion'
      readonly clientId: string | undefined
      readonly assertion: string
    }

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i
/** RFC 7523 section 2.2. */
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Reads RFC 6749 section 2.3.1 and RFC 7523 section 2.2: one way, and one client. */
export function readClientClaim(claim: ClientClaim): ClaimedClient {
  const proofs = [claim.authorization, claim.clientSecret, claim.clientAssertion].filter(Boolean)
  if (proofs.length > 1) {
    throw new OAuthError('invalid_request', 'The client may authenticate in one way only')
  }
  if (claim.authorization !== undefined) return ofHeader(claim.authorization, claim.clientId)
  if (claim.clientAssertion !== undefined) return ofAssertion(claim.clientAssertion, claim)
  const { clientId, clientSecret } = claim
  if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing')
  return clientSecret === undefined
    ? { kind: 'public', clientId }
    : { kind: 'secret', clientId, secret: clientSecret }
}

function ofAssertion(
  assertion: string,
  { clientId, clientAssertionType }: ClientClaim,
): ClaimedClient {
  if (clientAssertionType === JWT_BEARER) return { kind: 'assertion', clientId, assertion }
  throw new OAuthError('invalid_request', `client_assertion_type must be "${JWT_BEARER}"`)
}

/** Both parts are form-encoded inside of Basic (RFC 6749 section 2.3.1). */
function ofHeader(authorization: string, named: string | undefined): ClaimedClient {
  const [, encoded] = BASIC.exec(authorization) ?? []
  if (encoded === undefined) {
    throw new OAuthError('invalid_request', 'The Authorization header is none of a client')
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const clientId = colon < 0 ? undefined : formDecoded(text.slice(0, colon))
  const secret = formDecoded(text.slice(colon + 1))
  if (clientId === undefined || secret === undefined) {
    throw new OAuthError('invalid_request', 'The Authorization header is no "client_id:secret"')
  }
  if (named !== undefined && named !== clientId) {
    throw new OAuthError('invalid_request', 'client_id is another one in the Authorization header')
  }
  return { kind: 'secret', clientId, secret }
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
