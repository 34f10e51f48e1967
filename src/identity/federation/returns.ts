import type { Clock } from '#base/clock.ts'
import type { Refusal } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { SignIns } from '#identity/authorization/service.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { Arrivals } from './arrivals.ts'
import type { Links } from './links.ts'
import { callbackUri } from './model.ts'
import type { Outcome } from './outcome.ts'
import {
  type ProviderAnswer,
  codeOf,
  providerAnswerOf,
  refusalOf,
  requireSameIssuer,
} from './provider-answer.ts'
import type { ProviderClient, ProviderPerson } from './provider-client.ts'
import { untrusted } from './provider-fault.ts'
import type { ProviderVisit } from './provider-visit.ts'
import type { ProviderVisits } from './provider-visits.ts'
import type { Providers } from './providers.ts'
import type { Trip, TripRefusals } from './trip-refusals.ts'

/** A provider's clock, and ours. */
const CLOCK_SKEW_SECONDS = 60

/** What a browser brings back. */
export interface Returning {
  readonly params: URLSearchParams
  /** The cookie of the visit with that id. */
  readonly bindingOf: (visitId: string) => string | undefined
  /** Of the browser's session until now. */
  readonly sessionToken: string | undefined
}

/** Browsers that come back from the provider. */
export class Returns {
  readonly #clock: Clock
  readonly #providers: Providers
  readonly #client: ProviderClient
  readonly #visits: ProviderVisits
  readonly #arrivals: Arrivals
  readonly #links: Links
  readonly #signIns: Pick<SignIns, 'complete'>
  readonly #refusals: TripRefusals

  constructor(deps: {
    clock: Clock
    providers: Providers
    client: ProviderClient
    visits: ProviderVisits
    arrivals: Arrivals
    links: Links
    signIns: Pick<SignIns, 'complete'>
    refusals: TripRefusals
  }) {
    this.#clock = deps.clock
    this.#providers = deps.providers
    this.#client = deps.client
    this.#visits = deps.visits
    this.#arrivals = deps.arrivals
    this.#links = deps.links
    this.#signIns = deps.signIns
    this.#refusals = deps.refusals
  }

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
    const account = await this.#accountOf(trip, visit, person)
    if ('kind' in account) return account
    const { sub } = account
    const proof = { sub, method: 'google', authTime, replaces: returning.sessionToken } as const
    const signedIn = await this.#signIns.complete(site, check.request, proof, origin)
    return { kind: 'signed-in', ...signedIn }
  }

  /** Or where the client hears that there is nobody. */
  async #personOf(
    trip: Trip,
    visit: ProviderVisit,
    answer: ProviderAnswer,
  ): Promise<ProviderPerson | { readonly location: string }> {
    try {
      requireSameIssuer(answer, visit)
      if (answer.error !== undefined) {
        return { location: await this.#refusals.location(trip, refusalOf(answer.error)) }
      }
      const person = await this.#redeem(trip, visit, codeOf(answer))
      if (isRecentEnough(person, visit)) return person
      return { location: await this.#refusals.location(trip, NOT_RECENT) }
    } catch (error) {
      return { location: await this.#refusals.faultLocation(trip, error) }
    }
  }

  async #redeem(
    { site, request }: Trip,
    visit: ProviderVisit,
    code: string,
  ): Promise<ProviderPerson> {
    const access = await this.#providers.access(site, request.pool)
    if (access.issuer !== visit.issuer || access.clientId !== visit.clientId) {
      throw untrusted('The provider has been changed while the browser was there')
    }
    const { nonce, verifier } = visit
    const redirectUri = callbackUri(request.pool.issuer)
    return this.#client.redeem(access, { code, redirectUri, nonce, verifier })
  }

  async #accountOf(
    trip: Trip,
    visit: ProviderVisit,
    person: ProviderPerson,
  ): Promise<{ readonly sub: string } | Outcome> {
    const { site, request, origin } = trip
    const { pool, client } = request
    const about = { pool, issuer: visit.issuer, clientId: client.clientId, origin }
    const { linker } = visit
    if (linker) {
      const reason = await this.#links.complete(site, person, { ...about, linker })
      if (reason === undefined) return { sub: linker.sub }
      const location = await this.#refusals.linkLocation(trip, reason, linker)
      return { kind: 'returned', location }
    }
    const arrival = await this.#arrivals.accountOf(site, person, about)
    if (arrival.kind === 'known') return { sub: arrival.sub }
    const { address } = person
    const email = address.kind === 'verified' ? address.email : undefined
    await this.#refusals.note(trip, arrival.reason, { email })
    return { kind: 'refused', reason: arrival.reason, request }
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
