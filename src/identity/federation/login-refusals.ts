import type {
  AuthorizationError,
  LoginAttempt,
} from '#identity/authorization/authorization-request.ts'
import { errorLocation } from '#identity/authorization/response-location.ts'
import type { SecurityEvent } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'

import type { LinkRefusal } from './links.ts'
import type { LinkingUser } from './login-states.ts'
import { GOOGLE } from './model.ts'
import { ProviderFault, type ProviderFaultKind } from './provider-fault.ts'

/** Ends a sign-in with the provider: the client gets the error. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
  readonly authorizationError: AuthorizationError
  /** The account that the sign-in was for, when it was to link one. */
  readonly sub: string | undefined

  constructor(authorizationError: AuthorizationError, sub?: string) {
    super(authorizationError.description)
    this.authorizationError = authorizationError
    this.sub = sub
  }
}

export const linkRefused = (reason: LinkRefusal, { sub }: LinkingUser): LoginRefused =>
  new LoginRefused(
    { error: 'access_denied', description: `${reason}: ${LINK_REFUSALS[reason]}` },
    sub,
  )

/** Sign-ins with a provider that fail: the client learns that it failed, the audit trail has the reason. */
export class LoginRefusals {
  readonly #events: SecurityEvents

  constructor(events: SecurityEvents) {
    this.#events = events
  }

  /**
   * Records a `LoginRefused` or `ProviderFault` and returns the client's redirect URI with the error. Throws any other
   * error again.
   */
  async errorLocation(attempt: LoginAttempt, error: unknown): Promise<string> {
    if (error instanceof ProviderFault) {
      await this.note(attempt, `${error.kind}: ${error.message}`)
      return errorLocation(attempt.request, FAULTS[error.kind])
    }
    if (!(error instanceof LoginRefused)) throw error
    await this.note(attempt, error.message, { sub: error.sub })
    return errorLocation(attempt.request, error.authorizationError)
  }

  note(
    { site, request, origin }: LoginAttempt,
    reason: string,
    about: Pick<SecurityEvent, 'sub' | 'email'> = {},
  ): Promise<void> {
    const { pool, client } = request
    return this.#events.note(site.siteId, {
      event: 'provider.refused',
      ...about,
      pool: pool.kind,
      clientId: client.clientId,
      origin,
      detail: { provider: GOOGLE, reason },
    })
  }
}

const LINK_REFUSALS: Record<LinkRefusal, string> = {
  ProviderAlreadyLinked: 'this account is linked with another Google account',
  ProviderLinkedToOtherAccount: 'this Google account belongs to another account here',
  RecentSignInRequired: 'the sign-in that asked for this has ended',
}

const FAULTS: Record<ProviderFaultKind, AuthorizationError> = {
  unreachable: {
    error: 'temporarily_unavailable',
    description: 'Google cannot be reached: try again in a moment',
  },
  refused: { error: 'server_error', description: 'Google did not accept the sign-in' },
  untrusted: { error: 'server_error', description: 'The answer of Google could not be trusted' },
}
