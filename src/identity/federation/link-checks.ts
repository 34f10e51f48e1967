import { AppError } from '#base/app-error.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { Site } from '#sites/site.ts'

import type { BrowserCookies } from './authorization-redirects.ts'
import { isBindingOf } from './link-tickets.ts'
import type { LinkRefusal, Links, LinksDeps } from './links.ts'
import type { LinkingUser } from './login-states.ts'

export type LinkCheck =
  | { readonly kind: 'allowed'; readonly linker: LinkingUser }
  /** Nobody is signed in, and the browser is not the one that requested the link. */
  | { readonly kind: 'other-browser' }
  | { readonly kind: 'refused'; readonly reason: LinkRefusal; readonly linker: LinkingUser }

interface LinkChecksDeps extends LinksDeps {
  readonly links: Links
}

/**
 * Checks that the browser is the one in which the account's owner requested the link. The authorize URL alone proves
 * nothing: somebody else who opened it would link their identity to the sender's account.
 */
export class LinkChecks {
  readonly #deps: LinkChecksDeps

  constructor(deps: LinkChecksDeps) {
    this.#deps = deps
  }

  /** 403 `Forbidden` without a valid ticket, and in a browser where somebody else is signed in. */
  async check(
    site: Site,
    request: AuthorizationRequest,
    cookies: BrowserCookies,
  ): Promise<LinkCheck> {
    const { pool } = request
    const ticket = this.#deps.tickets.read(request)
    if (!ticket) throw noTicket()
    const session = await this.#deps.sessions.find(site, pool, cookies.sessionToken)
    if (session && session.sub !== ticket.linker.sub) throw otherAccount()
    const isRequester =
      cookies.linkBinding !== undefined && isBindingOf(ticket, cookies.linkBinding)
    if (!session && !isRequester) return { kind: 'other-browser' }
    const { linker } = ticket
    const reason = await this.#deps.links.refusalOf(site, pool, linker)
    return reason ? { kind: 'refused', reason, linker } : { kind: 'allowed', linker }
  }
}

const noTicket = (): AppError =>
  new AppError(
    'Forbidden',
    'This address for adding Google to an account is no longer valid. Go back to your account and start again.',
  )

const otherAccount = (): AppError =>
  new AppError(
    'Forbidden',
    'Adding Google was started from another account than the one that is signed in here. Go back to your account and start again.',
  )
