import type { RouteDeclaration } from '#http/route-declaration.ts'
import type { PoolKind } from '#identity/pool-kind.ts'

import type { Answer } from './http-client.ts'
import { RelyingParty } from './relying-party.ts'
import type { Stack } from './stack.ts'

export const POOLS = ['data', 'admin'] as const
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export interface Visit {
  readonly name: string
  readonly route: RouteDeclaration
  readonly kind: PoolKind
  /** Path and query. */
  readonly url: string
}

export const nameOf = ({ method, path }: RouteDeclaration): string =>
  `${method} ${path.replace(/\/$/, '')}`

/** What a page lets in; undefined for a route that is none. */
export const gateOf = ({ detail }: RouteDeclaration) =>
  detail['x-page'] as Readonly<Record<string, boolean>> | undefined

/** Whether a window that opened it keeps its hold of it. */
export const isOpenToOpeners = ({ kind, route }: Visit): boolean =>
  kind === 'data' && gateOf(route)?.['popups'] === true

/** The pages of the route table, as a person asks for them who is signed in at both pools of a site. */
export class GatedPages {
  readonly #stack: Stack
  readonly #host: string
  readonly #parties: ReadonlyMap<PoolKind, RelyingParty>

  private constructor(stack: Stack, host: string, parties: ReadonlyMap<PoolKind, RelyingParty>) {
    this.#stack = stack
    this.#host = host
    this.#parties = parties
  }

  static async of(stack: Stack, host: string): Promise<GatedPages> {
    const parties = new Map<PoolKind, RelyingParty>()
    for (const kind of POOLS) parties.set(kind, await RelyingParty.of(stack, host, kind))
    return new GatedPages(stack, host, parties)
  }

  get routes(): readonly RouteDeclaration[] {
    return this.#stack.app.routes.filter(gateOf)
  }

  party(kind: PoolKind): RelyingParty {
    const party = this.#parties.get(kind)
    if (!party) throw new Error(`No ${kind} pool`)
    return party
  }

  /** As a Cookie header: a new sign-in. */
  async cookie(kind: PoolKind): Promise<string> {
    const party = this.party(kind)
    const sub = await party.user(kind === 'data' ? 'vic@example.org' : `ann@${this.#host}`)
    return (await party.signIn(sub)).cookie
  }

  /** Every page at both pools, with a request of a client. */
  get visits(): readonly Visit[] {
    return this.routes.flatMap((route) =>
      POOLS.map((kind) => {
        const party = this.party(kind)
        const path = route.path.replace(/\/$/, '')
        const query = party.params().toString()
        const url = path.startsWith('/oidc/')
          ? `${path.replace('/oidc/:userPoolId', party.path)}?${query}`
          : path
        return { name: `${nameOf(route)} at the ${kind} pool`, route, kind, url }
      }),
    )
  }

  async isSignedIn(kind: PoolKind, cookie: string): Promise<boolean> {
    return (await this.party(kind).get('/account', cookie)).status === 200
  }

  /** With a sign-in of its own, unless it is given one: some pages end it. */
  async visit(
    { route, kind, url }: Visit,
    headers: Readonly<Record<string, string>>,
    held?: string,
  ): Promise<Answer> {
    const cookie = held ?? (await this.cookie(kind))
    const isPost = route.method === 'POST'
    // Each pool has its pages on its own name, where the site has several.
    const { host } = this.party(url.startsWith('/oidc/') ? kind : 'admin')
    return this.#stack.call(host, route.method, url, {
      headers: { ...headers, ...(isPost && FORM), cookie },
      ...(isPost && { body: 'a=b' }),
    })
  }
}
