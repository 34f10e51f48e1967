import { AppError, invalid, notFound } from '#base/app-error.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { DefinedFunctions } from '#runtime/definitions/defined-functions.ts'
import type { ParsedDefinition } from '#runtime/definitions/parse.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import { MAX_PROFILES } from './model.ts'
import {
  type ProfileRow,
  deleteDefinition,
  selectDefinition,
  selectProfiles,
  upsertDefinition,
} from './profile-queries.ts'

export interface DefinitionProfile {
  readonly profileName: string
  readonly definition: object
}

interface DefinitionProfilesDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly definitions: Definitions
  readonly definedFunctions: DefinedFunctions
  readonly revisions: Pick<Revisions, 'lock'>
}

/** Definitions that a site keeps by name, as they were sent. The values of secrets are taken out before they are stored. */
export class DefinitionProfiles {
  readonly #deps: DefinitionProfilesDeps

  constructor(deps: DefinitionProfilesDeps) {
    this.#deps = deps
  }

  /** By name. */
  list(siteId: string): Promise<ProfileRow[]> {
    return this.#deps.database.withSite(siteId, selectProfiles)
  }

  get(siteId: string, profileName: string): Promise<DefinitionProfile> {
    return this.#deps.database.withSite(siteId, (tx) => this.find(tx, profileName))
  }

  /** 409 `DefinitionExists` for a name that is taken, unless it may be overwritten. */
  async put(
    siteId: string,
    profileName: string,
    input: { readonly definition: unknown; readonly overwriteDefinition?: boolean },
    audit: SiteAudit,
  ): Promise<DefinitionProfile> {
    const { definition, overwriteDefinition = false } = input
    const parsed = this.#deps.definitions.parse(definition)
    await this.#deps.definedFunctions.requireInline(siteId, parsed)
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.#deps.revisions.lock(tx)
      if (!overwriteDefinition && (await selectDefinition(tx, profileName))) {
        throw new AppError(
          'DefinitionExists',
          `Definition "${profileName}" exists already: send "overwriteDefinition": true to replace it`,
        )
      }
      return this.save(tx, profileName, { definition, parsed }, audit)
    })
  }

  remove(siteId: string, profileName: string, audit: SiteAudit): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      if (!(await deleteDefinition(tx, profileName))) throw notFound('Definition', profileName)
      await audit(tx, { event: 'definition.removed', detail: { profileName } })
    })
  }

  async find(tx: SiteTx, profileName: string): Promise<DefinitionProfile> {
    const row = await selectDefinition(tx, profileName)
    if (!row) throw notFound('Definition', profileName)
    return { profileName, definition: asObject(row.definition) }
  }

  /** Creates or replaces. The caller has locked the site and has read the definition as `parsed`. */
  async save(
    tx: SiteTx,
    profileName: string,
    { definition, parsed }: { readonly definition: unknown; readonly parsed: ParsedDefinition },
    audit: SiteAudit,
  ): Promise<DefinitionProfile> {
    const names = (await selectProfiles(tx)).map((row) => row.profileName)
    if (!names.includes(profileName) && names.length >= MAX_PROFILES) {
      throw invalid('profileName', `a site keeps at most ${MAX_PROFILES} definitions: delete one`)
    }
    const kept = await this.#deps.definitions.withoutSecrets(tx, asObject(definition), parsed)
    await upsertDefinition(tx, profileName, kept, this.#deps.clock.now())
    await audit(tx, { event: 'definition.saved', detail: { profileName } })
    return { profileName, definition: kept }
  }
}

const asObject = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {}
