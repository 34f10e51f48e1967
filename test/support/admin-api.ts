import { decodeJwt } from 'jose'

import type { Role } from '#base/actor.ts'

import type { Answer } from './http-client.ts'
import type { CallOptions, Stack } from './stack.ts'

/** A member of a site's admin pool who calls the admin API. */
export interface Member {
  readonly userId: string
  readonly email: string
  readonly token: string
  /** `path` follows `/admin/api`. */
  call(method: string, path: string, options?: Omit<CallOptions, 'token'>): Promise<Answer>
}

let made = 0

/** The people of a site, as they come through the admin API. */
export class AdminPool {
  readonly #stack: Stack
  readonly #host: string

  constructor(stack: Stack, host: string) {
    this.#stack = stack
    this.#host = host
  }

  /** The super-admin of a new site: invited, with a token of the operator. */
  first(): Promise<Member> {
    return this.named(`ann@${this.#host}`)
  }

  /** The member with that address, on another replica if one is given. */
  async named(email: string, stack = this.#stack): Promise<Member> {
    const site = await this.#stack.context.sites.find(this.#host)
    const { token } = await this.#stack.context.tokenMint.mint(site, {
      user: email,
      pool: 'admin',
      use: 'access',
      groups: [],
    })
    return {
      userId: decodeJwt(token).sub ?? '',
      email,
      token,
      call: (method, path, options) =>
        stack.call(this.#host, method, `/admin/api${path}`, { ...options, token }),
    }
  }

  /** A new member who has accepted the invitation. */
  async joined(role: Role): Promise<Member> {
    const { email, userId } = await this.invited({ role })
    await this.#stack.inSite(this.#host, (tx, { siteId }) =>
      tx.db
        .updateTable('pool_user')
        .set({ status: 'ACTIVE', email_verified: true })
        .where('site_id', '=', siteId)
        .where('sub', '=', userId)
        .execute(),
    )
    return this.named(email)
  }

  /** What creating a user answers. */
  async invited(
    body: { readonly email?: string; readonly role?: Role; readonly externalEmail?: string } = {},
  ): Promise<{ readonly userId: string; readonly email: string }> {
    const email = `${body.role ?? 'user'}-${++made}@${this.#host}`
    const ann = await this.first()
    const answer = await ann.call('POST', '/users', { body: { email, ...body } })
    if (answer.status !== 200) throw new Error(`POST /users: ${answer.status} ${answer.text}`)
    return answer.json
  }

  /** What the page of a mailed link answers: 200, or 410 when the link is good no more. */
  async pageStatus(link: string): Promise<number> {
    const { pathname, search } = new URL(link)
    return (await this.#stack.call(this.#host, 'GET', `${pathname}${search}`)).status
  }
}
