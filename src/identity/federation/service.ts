import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type {
  AuthorizationRequest,
  Refusal,
} from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import { refusalLocation } from '#identity/authorization/response-location.ts'
import type { SignIns } from '#identity/authorization/service.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvent } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Site } from '#sites/site.ts'

import type { Arrivals } from './arrivals.ts'
import type { Departure, Leaving } from './departure.ts'
import type { LinkDepartures } from './link-departures.ts'
import type { LinkRefusal, Links } from './links.ts'
import { GOOGLE, callbackUri } from './model.ts'
import { type Outcome, refusalOfFault } from './outcome.ts'
import {
  type ProviderAnswer,
  codeOf,
  providerAnswerOf,
  refusalOf,
  requireSameIssuer,
} from './provider-answer.ts'
import type { ProviderClient, ProviderPerson } from './provider-client.ts'
import { ProviderFault, untrusted } from './provider-fault.ts'
import type { Linker, ProviderVisit } from './provider-visit.ts'
import type { ProviderVisits } from './provider-visits.ts'
import type { ProviderAccess, Providers } from './providers.ts'

/** A provider's clock, and ours. */
const CLOCK_SKEW_SECONDS = 60

export interface Returning {
  readonly params: URLSearchParams
  /** The cookie of the visit with that id. */
  readonly bindingOf: (visitId: string) => string | undefined
  /** Of the browser's session until now. */
  readonly sessionToken: string | undefined
}

interface Trip {
  readonly site: Site
  readonly request: AuthorizationRequest
  readonly origin: RequestOrigin
}

/** Sign-in with a provider, and adding one to an account. */
export class Federation {
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #providers: Providers
  readonly #client: ProviderClient
  readonly #visits: ProviderVisits
  readonly #arrivals: Arrivals
  readonly #links: Links
  readonly #linkDepartures: LinkDepartures
  readonly #signIns: Pick<SignIns, 'complete'>
  readonly #events: SecurityEvents

  constructor(deps: {
    clock: Clock
    ids: Ids
    providers: Providers
    client: ProviderClient
    visits: ProviderVisits
    arrivals: Arrivals
    links: Links
    linkDepartures: LinkDepartures
    signIns: Pick<SignIns, 'complete'>
    events: SecurityEvents
  }) {
    this.#clock = deps.clock
    this.#ids = deps.ids
    this.#providers = deps.providers
    this.#client = deps.client
    this.#visits = deps.visits
    this.#arrivals = deps.arrivals
    this.#links = deps.links
    this.#linkDepartures = deps.linkDepartures
    this.#signIns = deps.signIns
    this.#events = deps.events
  }

  /** For `identity_provider=Google`, and for every request of the link client. */
  async start(
    site: Site,
    request: AuthorizationRequest,
    leaving: Leaving,
    origin: RequestOrigin,
  ): Promise<Departure> {
    const trip = { site, request, origin }
    if (request.client.purpose !== 'link') return this.#leave(trip, undefined)
    const link = await this.#linkDepartures.check(site, request, leaving)
    if (link.kind === 'may-leave') return this.#leave(trip, link.linker)
    if (link.kind === 'refused')
      return { location: await this.#linkRefused(trip, link.reason, link.linker) }
    return { location: await this.#refusedLocation(trip, STRANGER) }
  }

  /** What the provider's answer, which a browser brings, comes to. Each visit ends once. */
  async finish(
    site: Site,
    pool: Pool,
    returning: Returning,
    origin: RequestOrigin,
  ): Promise<Outcome> {
    const authTime = this.#clock.now()
    const answer = providerAnswerOf(returning.params)
    if (!answer) return { kind: 'lost' }
    const visit = await this.#visits.take(site, pool, answer.state, returning.bindingOf)
    if (!visit) return { kind: 'lost' }
    const check = checkAuthorization(pool, new URLSearchParams(visit.query))
    // The client, or the provider, has changed while the browser was away.
    if (check.kind === 'refused-here') return { kind: 'lost' }
    if (check.kind === 'refused-there') return { kind: 'returned', location: check.location }
    const trip = { site, request: check.request, origin }
    const person = await this.#personOf(trip, visit, answer)
    if ('location' in person) return { kind: 'returned', ...person }
    const arrival = await this.#accountOf(trip, visit, person)
    if ('kind' in arrival) return arrival
    const { sub } = arrival
    const proof = { sub, method: 'google', authTime, replaces: returning.sessionToken } as const
    const signedIn = await this.#signIns.complete(site, check.request, proof, origin)
    return { kind: 'signed-in', ...signedIn }
  }

  async #leave(trip: Trip, linker: Linker | undefined): Promise<Departure> {
    const { site, request } = trip
    try {
      const access = await this.#access(site, request.pool)
      return await this.#begin(trip, access, linker)
    } catch (error) {
      return { location: await this.#faultLocation(trip, error) }
    }
  }

  async #begin(
    { site, request }: Trip,
    access: ProviderAccess,
    linker: Linker | undefined,
  ): Promise<Departure> {
    const { pool } = request
    const { answersNameIssuer } = await this.#client.metadata(access.issuer)
    const opened = this.#visits.prepare()
    const [nonce, verifier] = [this.#ids.secret(), this.#ids.secret()]
    const prompts = [...request.prompts].filter((prompt) => prompt !== 'none')
    const maxAgeSeconds = request.prompts.has('login') ? 0 : request.maxAgeSeconds
    const location = await this.#client.authorizationUrl(access, {
      redirectUri: callbackUri(pool.issuer),
      state: opened.state,
      nonce,
      verifier,
      prompts,
      maxAgeSeconds,
      loginHint: request.loginHint,
    })
    await this.#visits.open(site, pool, opened, {
      query: request.query,
      issuer: access.issuer,
      clientId: access.clientId,
      answersNameIssuer,
      nonce,
      verifier,
      ...(maxAgeSeconds !== undefined && {
        authenticatedAfterSeconds: this.#nowSeconds() - maxAgeSeconds,
      }),
      ...(linker && { linker }),
    })
    return { location, binding: opened.binding }
  }

  /** Or where the client hears that there is nobody. */
  async #personOf(
    trip: Trip,
    visit: ProviderVisit,
    answer: ProviderAnswer,
  ): Promise<ProviderPerson | { readonly location: string }> {
    const { site, request } = trip
    try {
      requireSameIssuer(answer, visit)
      if (answer.error !== undefined) {
        return { location: await this.#refusedLocation(trip, refusalOf(answer.error)) }
      }
      const access = await this.#access(site, request.pool)
      if (access.issuer !== visit.issuer || access.clientId !== visit.clientId) {
        throw untrusted('The provider has been changed while the browser was there')
      }
      const person = await this.#client.redeem(access, {
        code: codeOf(answer),
        redirectUri: callbackUri(request.pool.issuer),
        nonce: visit.nonce,
        verifier: visit.verifier,
      })
      if (isRecentEnough(person, visit)) return person
      return { location: await this.#refusedLocation(trip, NOT_RECENT) }
    } catch (error) {
      return { location: await this.#faultLocation(trip, error) }
    }
  }

  async #accountOf(
    trip: Trip,
    visit: ProviderVisit,
    person: ProviderPerson,
  ): Promise<{ readonly sub: string } | Outcome> {
    const { site, request, origin } = trip
    const { pool, client } = request
    const about = { pool, issuer: visit.issuer, clientId: client.clientId, origin }
    if (visit.linker) {
      const { linker } = visit
      const reason = await this.#links.complete(site, person, { ...about, linker })
      if (reason === undefined) return { sub: linker.sub }
      return { kind: 'returned', location: await this.#linkRefused(trip, reason, linker) }
    }
    const arrival = await this.#arrivals.accountOf(site, person, about)
    if (arrival.kind === 'known') return { sub: arrival.sub }
    const { address } = person
    const email = address.kind === 'verified' ? address.email : undefined
    await this.#note(trip, arrival.reason, { email })
    return { kind: 'refused', reason: arrival.reason, request }
  }

  /** Switched off between the check of the request and now, it is as if the provider were away. */
  async #access(site: Site, pool: Pool): Promise<ProviderAccess> {
    const access = await this.#providers.access(site, pool)
    if (!access) throw new ProviderFault('unreachable', 'The provider has been switched off')
    return access
  }

  async #linkRefused(trip: Trip, reason: LinkRefusal, { sub }: Linker): Promise<string> {
    const description = `${reason}: ${LINK_REFUSALS[reason]}`
    await this.#note(trip, description, { sub })
    return refusalLocation(trip.request, { error: 'access_denied', description })
  }

  async #faultLocation(trip: Trip, error: unknown): Promise<string> {
    if (!(error instanceof ProviderFault)) throw error
    await this.#note(trip, `${error.kind}: ${error.message}`)
    return refusalLocation(trip.request, refusalOfFault(error))
  }

  async #refusedLocation(trip: Trip, refusal: Refusal): Promise<string> {
    await this.#note(trip, refusal.description)
    return refusalLocation(trip.request, refusal)
  }

  #note(
    { site, request, origin }: Trip,
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

  #nowSeconds(): number {
    return Math.floor(this.#clock.now().getTime() / 1000)
  }
}

/** A provider that does not say when it saw the person (Google) is believed to have asked, as it was told to. */
const isRecentEnough = (
  { authTimeSeconds }: ProviderPerson,
  { authenticatedAfterSeconds }: ProviderVisit,
): boolean =>
  authTimeSeconds === undefined ||
  authenticatedAfterSeconds === undefined ||
  authTimeSeconds >= authenticatedAfterSeconds - CLOCK_SKEW_SECONDS

const NOT_RECENT: Refusal = {
  error: 'login_required',
  description: 'Google did not ask the user again',
}

const STRANGER: Refusal = {
  error: 'login_required',
  description: 'This browser is not signed in to the account that asked to link',
}

const LINK_REFUSALS: Record<LinkRefusal, string> = {
  ProviderAlreadyLinked: 'this account is linked with another Google account',
  ProviderLinkedToOtherAccount: 'this Google account belongs to another account here',
  RecentSignInRequired: 'the sign-in that asked for this has ended',
}
