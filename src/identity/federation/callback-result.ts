import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { SignedIn } from '#identity/authorization/service.ts'

import type { FederatedSignInRefusal } from './federated-accounts.ts'

/** How a visit to a provider ends. */
export type CallbackResult =
  | ({ readonly kind: 'signed-in' } & SignedIn)
  /** Back at the client, with an error. */
  | { readonly kind: 'error-redirect'; readonly location: string }
  /** The person is asked to do something else. */
  | {
      readonly kind: 'refused'
      readonly reason: FederatedSignInRefusal
      readonly request: AuthorizationRequest
    }
  /** Unknown, over, or of another browser: there is no client that one could trust to be concerned. */
  | { readonly kind: 'unknown-login' }
