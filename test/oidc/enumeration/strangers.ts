import { CognitoApp } from '#test/cognito-app.ts'
import { FormBrowser } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import type { Stack } from '#test/stack.ts'

export const PASSWORD = 'Correct-Horse-9-Battery'

/** The kinds of owners of an address: an account with a password or without, a sign-up that waits, or none. */
export const WHO = ['owner', 'googler', 'waiting', 'nobody'] as const
export type Who = (typeof WHO)[number]

export interface Person {
  readonly email: string
}

/** One request of a stranger, ready to be sent. */
export interface Ask {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Different each time, and of a length that says nothing. */
const RANDOM: readonly RegExp[] = [
  /(?<=flow=)[\w-]+/g,
  /(?<=name="(?:_csrf|challenge)" value=")[\w-]+/g,
  /(?<=&#34;challenge&#34;:&#34;)[\w-]+/g,
  /(?<="UserSub":")[0-9a-f-]{36}/g,
  /(?<="SALT":")[0-9a-f]{32}/g,
  /(?<="SECRET_BLOCK":")[\w+/=]+/g,
]
/** A number without leading zeros, which occur for all kinds at times. */
const NUMBER = /(?<="SRP_B":")[0-9a-f]+/g

/** People who ask about other people, each time from another network. */
export class Strangers {
  readonly stack: Stack
  readonly party: RelyingParty
  readonly cognito: CognitoApp
  #people = 0
  #networks = 0

  private constructor(stack: Stack, party: RelyingParty, cognito: CognitoApp) {
    this.stack = stack
    this.party = party
    this.cognito = cognito
  }

  static async open(stack: Stack, host: string): Promise<Strangers> {
    const cognito = await CognitoApp.of(stack, host)
    return new Strangers(stack, await RelyingParty.of(stack, host), cognito)
  }

  /** Addresses are equally long, whosever they are. */
  async person(who: Who): Promise<Person> {
    this.#people += 1
    const email = `person-${String(this.#people).padStart(4, '0')}@mail.test`
    const { site, pool, stack } = this.party
    const { users, ownPasswords, signUps } = stack.context
    const origin = { address: '192.0.2.1', userAgent: 'test', requestId: 'test' }
    if (who === 'owner' || who === 'googler') {
      const { sub } = await users.ensureVisitor(site, pool, email)
      const addition = { sub, password: PASSWORD }
      if (who === 'owner') await ownPasswords.add({ site, pool, origin }, addition)
    }
    if (who === 'waiting')
      await signUps.signUp({ site, pool, origin }, { email, password: PASSWORD })
    return { email }
  }

  /** Headers of a new client. */
  network(): Readonly<Record<string, string>> {
    this.#networks += 1
    return { 'x-forwarded-for': `2001:db8:${this.#networks.toString(16)}::1` }
  }

  /** With cookies as a header has them. */
  browser(cookie = ''): FormBrowser {
    const browser = new FormBrowser(this.stack, this.party.host)
    for (const pair of cookie.split('; ').filter((text) => text !== '')) {
      const at = pair.indexOf('=')
      browser.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return browser
  }

  send({ path, headers, body }: Ask): Promise<Answer> {
    return this.stack.call(this.party.host, 'POST', path, { headers, body })
  }

  /** Without a socket between, so that its effects can be distinguished from others. */
  async sendInside({ path, headers, body }: Ask): Promise<Response> {
    const { host } = this.party
    const url = `${this.stack.baseUrl(host)}${path}`
    const request = new Request(url, { method: 'POST', body, headers: { host, ...headers } })
    return this.stack.app.fetch(request, { address: '127.0.0.1' })
  }

  /** What is left of an answer when all that must differ is taken out, except for its length. */
  async seen(ask: Ask, { email }: Person): Promise<unknown> {
    const { status, headers, text } = await this.send(ask)
    const { 'x-request-id': requestId = '', date: _date, ...others } = headers
    const plain = (said: string): string => {
      const known = said
        .replaceAll(requestId, '<request>')
        .replaceAll(email, '<email>')
        .replaceAll(encodeURIComponent(email), '<email>')
        .replaceAll(email.replace('@', '&#64;'), '<email>')
        .replaceAll(NUMBER, '<number>')
      return RANDOM.reduce(
        (words, random) => words.replaceAll(random, (found) => `<${found.length}>`),
        known,
      )
    }
    const { 'content-length': length, ...plainHeaders } = Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, plain(value)]),
    )
    return {
      status,
      headers: plainHeaders,
      length: NUMBER.test(text) ? 0 : length,
      body: plain(text),
    }
  }
}
