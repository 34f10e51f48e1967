import { isStorable } from '#base/storable-text.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import { type Visitor, visitorOf } from '#identity/visitor.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { selectAccountStatus, selectUserByEmail, selectVisitorExists } from './queries.ts'

/** The current state of a site's visitors, for what is done in their name without their token. */
export class Visitors {
  readonly #database: Database
  readonly #directory: PoolDirectory

  constructor(deps: { database: Database; directory: PoolDirectory }) {
    this.#database = deps.database
    this.#directory = deps.directory
  }

  /** Whether there is a visitor with that address, who may yet have to confirm it. */
  async exists(tx: SiteTx, username: string): Promise<boolean> {
    const email = canonicalEmail(username)
    return isStorable(email) && selectVisitorExists(tx, email)
  }

  /** By address. Undefined when there is none, or none that can sign in. */
  async find(site: Site, username: string): Promise<Visitor | undefined> {
    const email = canonicalEmail(username)
    if (!isStorable(email)) return undefined
    const { userPoolId } = (await this.#directory.get(site)).data
    const user = await this.#database.withSite(site.siteId, (tx) =>
      selectUserByEmail(tx, userPoolId, email),
    )
    if (user?.status !== 'ACTIVE') return undefined
    const { sub } = user
    const subject = { userPoolId, sub, familyId: undefined }
    const status = await selectAccountStatus(this.#database, site.siteId, subject)
    return status && visitorOf({ sub, username: status.email, groups: status.groups })
  }
}
