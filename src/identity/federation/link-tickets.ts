import { createHash } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isSameText } from '#base/same-text.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

import type { FederationDeps } from './federation-deps.ts'
import { LinkingUser } from './login-states.ts'

const TICKET_LIFETIME_MS = 10 * 60_000
const TICKET = /^[\w-]{1,2048}$/

const TicketContent = Type.Object({
  linker: LinkingUser,
  expiresAtMs: Type.Number(),
  /** Hash of redirect URI and code challenge: the ticket is valid for one authorization request. */
  requestHash: Type.String(),
  /** Hash of the secret in the cookie of the browser that requested the link. */
  bindingHash: Type.String(),
})
type TicketContent = Static<typeof TicketContent>

type TicketedRequest = Pick<AuthorizationRequest, 'pool' | 'redirectUri' | 'codeChallenge'>

export interface LinkTicket {
  readonly ticket: string
  /** For a cookie of the browser that requests the link. */
  readonly bindingToken: string
  readonly expiresAt: Date
}

/** Tickets tie an authorize URL to the account that requested it: sealed, for ten minutes, worthless without the cookie. */
export class LinkTickets {
  readonly #key: Uint8Array
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
    this.#key = deps.sealer.derive('link-tickets')
  }

  issue(linker: LinkingUser, request: TicketedRequest): LinkTicket {
    const expiresAt = new Date(this.#deps.clock.now().getTime() + TICKET_LIFETIME_MS)
    const bindingToken = this.#deps.ids.secret()
    const text: TicketContent = {
      linker,
      expiresAtMs: expiresAt.getTime(),
      requestHash: requestHashOf(request),
      bindingHash: hashOf(bindingToken),
    }
    const sealed = encrypt(this.#key, contextOf(request.pool), Buffer.from(JSON.stringify(text)))
    return { ticket: sealed.toString('base64url'), bindingToken, expiresAt }
  }

  /** Undefined when the request has no ticket of ours, an expired one, or that of another request. */
  read(request: AuthorizationRequest): TicketContent | undefined {
    const { linkTicket = '' } = request
    if (!TICKET.test(linkTicket)) return undefined
    const opened = decrypt(this.#key, contextOf(request.pool), Buffer.from(linkTicket, 'base64url'))
    if (!opened) return undefined
    const text = Value.Parse(TicketContent, JSON.parse(opened.toString()))
    const stands =
      text.expiresAtMs > this.#deps.clock.now().getTime() &&
      text.requestHash === requestHashOf(request)
    return stands ? text : undefined
  }
}

/** Whether the cookie is that of the browser which was given the ticket. */
export const isBindingOf = (ticket: { readonly bindingHash: string }, token: string): boolean =>
  isSameText(hashOf(token), ticket.bindingHash)

/** An issuer is one pool of one site: the tickets of one pool are not valid at another. */
const contextOf = ({ issuer }: Pick<Pool, 'issuer'>): string => `link-ticket:${issuer}`

const requestHashOf = ({ redirectUri, codeChallenge }: TicketedRequest): string =>
  hashOf(`${codeChallenge ?? ''} ${redirectUri}`)

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
