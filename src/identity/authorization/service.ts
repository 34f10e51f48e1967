import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { AuthorizationRequest } from './authorization-request.ts'

/** How a user has just proven who they are. */
export interface SignInProof {
  readonly sub: string
  readonly method: 'password' | 'google'
  /** Taken before the proof was checked: a sign-out everywhere that happened meanwhile then counts. */
  readonly authTime: Date
  /** The browser's session until now, which the new one takes the place of. */
  readonly replaces?: string | undefined
}

export interface SignedIn {
  /** At the client, with the code. */
  readonly location: string
  /** For the browser's cookie. */
  readonly session: { readonly token: string; readonly expiresAt: Date }
}

/** Turns an authorization request into a code, once it is known who the user is. */
export class SignIns {
  /**
   * Where the browser goes without being asked anything: to the client, with a code when its session is good enough, with
   * an error when nothing may be asked (`prompt=none`). Undefined when the user has to sign in.
   */
  async resume(
    _site: Site,
    _request: AuthorizationRequest,
    _sessionToken: string | undefined,
  ): Promise<string | undefined> {
    throw new Error('Not built yet')
  }

  /** Session, code and event in one transaction. */
  async complete(
    _site: Site,
    _request: AuthorizationRequest,
    _proof: SignInProof,
    _origin: RequestOrigin,
  ): Promise<SignedIn> {
    throw new Error('Not built yet')
  }
}
