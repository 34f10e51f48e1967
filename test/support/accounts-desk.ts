import { vi } from 'vitest'

import type { RequestOrigin } from '#base/request-origin.ts'
import type { AccountServices } from '#identity/accounts/open-accounts.ts'
import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import type { OutboundMessage } from '#identity/auth-emails/outbound-mail.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { IdentityCluster, type Replica, type ReplicaOptions } from './identity-replica.ts'

/** A password that every default policy takes. */
export const GOOD = 'Tr4vel-light'
export const BETTER = 'Tr4vel-lighter'

/** The accounts service of a replica for a site's visitors, and the mail that it sends. */
export class AccountsDesk implements AsyncDisposable {
  readonly cluster: IdentityCluster
  readonly replica: Replica
  readonly site: Site
  readonly pool: Pool

  private constructor(cluster: IdentityCluster, replica: Replica, site: Site, pool: Pool) {
    this.cluster = cluster
    this.replica = replica
    this.site = site
    this.pool = pool
  }

  static async open(options: ReplicaOptions = {}): Promise<AccountsDesk> {
    const cluster = await IdentityCluster.start()
    const replica = await cluster.replica({ works: true, ...options })
    const { site } = await cluster.createSite(replica, 'one.test')
    const { userPoolId } = await replica.pools.discovery(site)
    return new AccountsDesk(cluster, replica, site, await replica.pools.byId(site, userPoolId))
  }

  get accounts(): AccountServices {
    return this.replica
  }

  async adminPool(): Promise<Pool> {
    const { auth } = await this.replica.pools.bootstrap(this.site)
    return this.replica.pools.byId(this.site, auth.userPoolId)
  }

  signUp(email: string, password = GOOD, origin = from()) {
    return this.accounts.signUps.signUp(
      { site: this.site, pool: this.pool, origin },
      { email, password },
    )
  }

  confirm(email: string, code: string, registrationId?: string, origin = from()) {
    const confirmation = { email, code, registrationId }
    return this.accounts.signUps.confirm({ site: this.site, pool: this.pool, origin }, confirmation)
  }

  signIn(email: string, password = GOOD, origin = from()) {
    return this.accounts.passwordSignIns.authenticate(
      { site: this.site, pool: this.pool, origin },
      { email, password },
    )
  }

  forgot(email: string, origin = from()) {
    return this.accounts.passwordResets.request({ site: this.site, pool: this.pool, origin }, email)
  }

  reset(email: string, code: string, password = BETTER, origin = from()) {
    const reset = { email, code, password }
    return this.accounts.passwordResets.confirm({ site: this.site, pool: this.pool, origin }, reset)
  }

  /** A confirmed account; resolves with its `sub`. */
  async account(email: string, password = GOOD): Promise<string> {
    const { registrationId, sub } = await this.signUp(email, password)
    await this.confirm(email, await this.code(email), registrationId)
    return sub
  }

  /** Every job that was asked for has run. */
  settled(): Promise<void> {
    return vi.waitFor(
      async () => {
        const [row] = await this.replica.sql<{ waiting: number }[]>`
          select count(*)::int as waiting from pgboss.job
          where name = 'account-mail' and state in ('created', 'retry', 'active')`
        if (row?.waiting !== 0) throw new Error(`${row?.waiting} jobs are waiting`)
      },
      { timeout: 60_000, interval: 10 },
    )
  }

  /** What has been sent to an address by now, oldest first. */
  async mailTo(email: string, kind?: AuthEmail['kind']): Promise<readonly OutboundMessage[]> {
    await this.settled()
    return this.cluster.mail.messages.filter(
      (message) => message.to === email && (kind === undefined || message.kind === kind),
    )
  }

  /** In the newest mail to the address. */
  async code(email: string): Promise<string> {
    return codeIn((await this.mailTo(email)).at(-1))
  }

  async events(name: string): Promise<readonly unknown[]> {
    return this.replica.database.withSite(this.site.siteId, (tx) =>
      tx.db
        .selectFrom('security_event')
        .select(['event', 'pool', 'email', 'sub', 'address', 'detail'])
        .where('event', '=', name)
        .orderBy('at')
        .execute(),
    )
  }

  forwardSeconds(seconds: number): void {
    this.cluster.clock.forwardSeconds(seconds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
  }
}

/** The owner of accounts is at home in the documentation's first network, strangers in others. */
export const from = (address = '192.0.2.1'): RequestOrigin => ({
  address,
  userAgent: 'vitest',
  requestId: 'req_test',
})

export const STRANGER = from('198.51.100.7')

export function codeIn(message: OutboundMessage | undefined): string {
  const code = /(?<!\d)\d{6}(?!\d)/.exec(message?.text ?? '')?.[0]
  if (code === undefined) throw new Error(`No code in ${JSON.stringify(message)}`)
  return code
}

/** Never the code itself. */
export const wrong = (code: string, by = 1): string =>
  String((Number(code) + by) % 1_000_000).padStart(6, '0')
