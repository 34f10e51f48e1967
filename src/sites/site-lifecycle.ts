import type { SiteTx } from '#platform/postgres/database.ts'

import type { Site } from './site.ts'

/**
 * What the layers above keep for every site. Each part writes its rows in the transaction that creates the site, so a
 * site is there with all of them or not at all.
 */
export interface SiteLifecycle {
  created(tx: SiteTx, site: Site, input: NewSiteInput): Promise<SiteCreation>
  /** In the transaction that changes the site's domain, source or deployment settings. */
  updated?(tx: SiteTx, site: Site): Promise<void>
}

export interface NewSiteInput {
  /** Lower-case addresses, without duplicates. */
  readonly superAdmins: readonly string[]
}

export interface SiteCreation {
  readonly onboarding?: readonly Onboarding[]
}

/** The link with which a new super-admin takes the account. It is shown once: only a hash of it is kept. */
export interface Onboarding {
  readonly email: string
  readonly url: string
}
