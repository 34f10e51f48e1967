import type { PoolKind } from '#identity/pool-kind.ts'

import { FormBrowser } from './form-browser.ts'
import type { Answer } from './http-client.ts'
import { RelyingParty } from './relying-party.ts'
import type { Stack } from './stack.ts'

export const PASSWORD = 'Tr4vel-light'
export const BETTER = 'Tr4vel-lighter'
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

let people = 0

/** A browser that is signed in to an account of its own, with a password. */
export class Owner {
  readonly browser: FormBrowser
  readonly party: RelyingParty
  readonly email: string
  readonly sub: string

  private constructor(party: RelyingParty, email: string, sub: string) {
    this.party = party
    this.email = email
    this.sub = sub
    this.browser = new FormBrowser(party.stack, party.host)
  }

  static async of(stack: Stack, host: string, kind: PoolKind = 'data'): Promise<Owner> {
    const party = await RelyingParty.of(stack, host, kind)
    const email = kind === 'data' ? `p${++people}@visitors.test` : `ann@${host}`
    const sub = await party.user(email)
    const { site, pool } = party
    const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
    if (!(await stack.context.ownPasswords.has(site, pool, sub))) {
      await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
    }
    const owner = new Owner(party, email, sub)
    await owner.signIn()
    return owner
  }

  /** A session in this browser, of a sign-in that long ago. */
  async signIn(agoMs = 0): Promise<void> {
    const { token, cookie } = await this.party.signIn(this.sub, {
      authTime: new Date(Date.now() - agoMs),
    })
    this.browser.cookies.set(cookie.slice(0, cookie.indexOf('=')), token)
  }

  open(page = ''): Promise<Answer> {
    return this.browser.get(`${this.party.path}/account${page}`)
  }

  /** Sends the form of a page with the password that the account has at first, and gives what it leads to. */
  async send(page: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const shown = await this.open(page)
    if (shown.status !== 200) throw new Error(`${page}: ${shown.status} ${shown.text}`)
    const proven = { currentPassword: PASSWORD, ...fields }
    return this.follow(await this.browser.submit(shown, proven))
  }

  /** Presses a button of the account's page. */
  async press(
    page: string,
    fields: Readonly<Record<string, string>>,
    shown?: Answer,
  ): Promise<Answer> {
    const _csrf = csrfOf(shown ?? (await this.open()))
    const body = new URLSearchParams({ _csrf, ...fields }).toString()
    return this.follow(await this.browser.post(`${this.party.path}/account/${page}`, body, FORM))
  }

  follow(answer: Answer): Promise<Answer> | Answer {
    const { location } = answer.headers
    return answer.status === 303 && location ? this.browser.get(location) : answer
  }

  async mayUse(password: string): Promise<boolean> {
    const browser = new FormBrowser(this.party.stack, this.party.host)
    const page = await browser.get(this.party.page('login'))
    const answer = await browser.submit(page, { username: this.email, password })
    return answer.headers['location']?.includes('code=') ?? false
  }
}

export const csrfOf = ({ text }: Answer): string =>
  /name="_csrf" value="([^"]*)"/.exec(text)?.[1] ?? ''
