import type {
  AuthorizationRequest,
  Refusal,
} from '#identity/authorization/authorization-request.ts'
import type { SignedIn } from '#identity/authorization/service.ts'

import type { ArrivalRefusal } from './arrivals.ts'
import type { ProviderFault, ProviderFaultKind } from './provider-fault.ts'

/** How a visit to a provider ends. */
export type Outcome =
  | ({ readonly kind: 'signed-in' } & SignedIn)
  /** Back at the client, with an error. */
  | { readonly kind: 'returned'; readonly location: string }
  /** The person is asked to do something else. */
  | {
      readonly kind: 'refused'
      readonly reason: ArrivalRefusal
      readonly request: AuthorizationRequest
    }
  /** Unknown, over, or of another browser: there is no client that one could trust to be concerned. */
  | { readonly kind: 'lost' }

/** What a client is told of a provider's failure; the operator finds the rest in the audit trail. */
export const refusalOfFault = ({ kind }: ProviderFault): Refusal => FAULTS[kind]

const FAULTS: Record<ProviderFaultKind, Refusal> = {
  unreachable: {
    error: 'temporarily_unavailable',
    description: 'Google cannot be reached: try again in a moment',
  },
  refused: { error: 'server_error', description: 'Google did not accept the sign-in' },
  untrusted: { error: 'server_error', description: 'The answer of Google could not be trusted' },
}
