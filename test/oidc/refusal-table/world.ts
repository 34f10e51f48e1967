import type { Pool } from '#identity/pools/model.ts'
import { type SqlClient, createClient } from '#platform/postgres/client.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { setUpGoogle } from '#test/google-sign-in.ts'
import type { Answer } from '#test/http-client.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

export const PASSWORD = 'Correct-Horse-9-Battery'

const ORIGIN = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }

/** What an attack could be after. */
const TABLES = [
  'authorization_code',
  'pending_sign_up',
  'pool_client',
  'pool_user',
  'provider_visit',
  'refresh_family',
  'refresh_token',
  'sign_in_session',
  'user_code',
  'user_identity',
  'user_invite',
  'user_password',
] as const
export type Table = (typeof TABLES)[number]
const DIGESTS = `select ${TABLES.map(digestOf).join(', ')}`

/** An attack that is ready: everything before it has happened. */
export interface Attack {
  send(): Promise<Answer>
  /** What it does change; nothing when left out. */
  readonly changes?: readonly Table[]
  /** What holds afterwards. */
  readonly afterwards?: () => Promise<void>
}

/** Name, the answer that is expected, and how to come to attack. */
export type Row = readonly [
  name: string,
  expected: string,
  prepare: (world: World) => Promise<Attack>,
]

interface User {
  readonly email: string
  readonly sub: string
}

/** Two sites with both their pools, and people who are never the same twice. */
export class World implements AsyncDisposable {
  readonly stack: Stack
  /** The visitors of one.test. */
  readonly one: RelyingParty
  /** The admins of one.test. */
  readonly admin: RelyingParty
  /** The visitors of two.test. */
  readonly two: RelyingParty
  /** The visitors of one.test, for programs written for Cognito. */
  readonly cognito: CognitoApp
  readonly #superuser: SqlClient
  #people = 0

  private constructor(
    stack: Stack,
    parties: { one: RelyingParty; admin: RelyingParty; two: RelyingParty; cognito: CognitoApp },
  ) {
    this.stack = stack
    this.one = parties.one
    this.admin = parties.admin
    this.two = parties.two
    this.cognito = parties.cognito
    this.#superuser = createClient({ url: stack.database.url, max: 1 })
  }

  static async open(): Promise<World> {
    const stack = await startStack()
    const cognito = await CognitoApp.of(stack, 'one.test')
    await setUpGoogle(stack, 'one.test', 'https://accounts.google.com')
    return new World(stack, {
      one: await RelyingParty.of(stack, 'one.test'),
      admin: await RelyingParty.of(stack, 'one.test', 'admin'),
      two: await RelyingParty.of(stack, 'two.test'),
      cognito,
    })
  }

  email(): string {
    this.#people += 1
    return `person-${this.#people}@mail.test`
  }

  browser(host = 'one.test'): FormBrowser {
    return new FormBrowser(this.stack, host)
  }

  /** A user with a password. */
  async user(party = this.one, email = this.email()): Promise<User> {
    return party.pool.kind === 'data' ? this.#visitor(party, email) : this.#member(party, email)
  }

  /** The site's super-admin, who was mailed the invite. */
  async invited(host: string): Promise<{ readonly token: string; readonly path: string }> {
    await this.stack.createSite({ domain: host, superAdmins: [`ann@${host}`] })
    return this.inviteLink(`ann@${host}`)
  }

  async inviteLink(email: string): Promise<{ readonly token: string; readonly path: string }> {
    const { pathname, search, searchParams } = new URL(
      linkIn(await mailTo(this.stack, email, 'invite')),
    )
    return { path: `${pathname}${search}`, token: searchParams.get('token') ?? '' }
  }

  /** A browser at the page for the code of its sign-up. */
  async signingUp(party = this.one, email = this.email()) {
    const newCode = await this.newCode(email, 'verification')
    const browser = this.browser(party.host)
    const form = await browser.get(party.page('signup'))
    const sent = await browser.submit(form, { username: email, password: PASSWORD })
    const page = await browser.get(sent.headers['location'] ?? '')
    const code = await newCode()
    return { browser, email, page, code, wrong: wrongOf(code) }
  }

  /** A browser at the page for the code that sets a new password. */
  async recovering(party = this.one, email = this.email()) {
    await this.user(party, email)
    const newCode = await this.newCode(email, 'reset')
    const browser = this.browser(party.host)
    const form = await browser.get(party.page('forgotPassword'))
    const sent = await browser.submit(form, { username: email })
    const page = await browser.get(sent.headers['location'] ?? '')
    const code = await newCode()
    return { browser, email, page, code, wrong: wrongOf(code) }
  }

  /** Ends the session of a browser. */
  signOut({ site, pool }: RelyingParty, token: string): Promise<void> {
    return this.stack.context.sessions.end({ site, pool, origin: ORIGIN }, token)
  }

  /** Waits for a code that is mailed from now on. */
  async newCode(email: string, kind: 'verification' | 'reset'): Promise<() => Promise<string>> {
    const [latest] = await allMailTo(this.stack, email, kind)
    return async () => codeIn(await mailTo(this.stack, email, kind, latest))
  }

  /** As if so much time had passed for those rows of the table that the condition names. */
  async expire(table: Table, column: string, value: string): Promise<void> {
    const sql = this.#superuser
    await sql`
      update ${sql(table)} set expires_at = now() - interval '1 second'
      where ${sql(column)} = ${value}`
  }

  /** Says of each table whether it is unchanged; all of them are read by one statement. */
  async kept(): Promise<ReadonlyMap<Table, string>> {
    const [row] = await this.#superuser.unsafe<Record<Table, string>[]>(DIGESTS)
    return new Map(TABLES.map((table) => [table, row?.[table] ?? '']))
  }

  async #visitor(party: RelyingParty, email: string): Promise<User> {
    const sub = await party.user(email)
    const addition = { sub, password: PASSWORD }
    await this.stack.context.ownPasswords.add(
      { site: party.site, pool: party.pool, origin: ORIGIN },
      addition,
    )
    return { email, sub }
  }

  /** Of the admin pool; the invite has been taken. */
  async #member({ host }: RelyingParty, email: string): Promise<User> {
    const token = await this.stack.adminToken(host)
    const body = { email, role: 'user' }
    const { json } = await this.stack.call(host, 'POST', '/admin/api/users', { token, body })
    const { path } = await this.inviteLink(email)
    const browser = this.browser(host)
    const passwords = { password: PASSWORD, confirmPassword: PASSWORD }
    await browser.submit(await browser.get(path), passwords)
    return { email, sub: String(json.userId) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#superuser.end({ timeout: 5 })
    await this.stack[Symbol.asyncDispose]()
  }
}

function digestOf(table: Table): string {
  return `(select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from ${table} t) as ${table}`
}

export function changesOf(
  before: ReadonlyMap<Table, string>,
  after: ReadonlyMap<Table, string>,
): readonly Table[] {
  return TABLES.filter((table) => before.get(table) !== after.get(table))
}

export function linkClientOf({ clients }: Pool): string {
  const client = [...clients.values()].find(({ purpose }) => purpose === 'link')
  return client?.clientId ?? ''
}

/** Never the code itself. */
const wrongOf = (code: string): string => (code === '000000' ? '111111' : '000000')
