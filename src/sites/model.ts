import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'

import {
  DeploymentSettings,
  DeploymentSettingsInput,
  parseSettings,
  readDeploymentSettings,
} from './deployment-settings.ts'
import { parseSiteNames } from './site-names.ts'
import type { SiteNames } from './site.ts'
import {
  Repo,
  RepoBinding,
  type SiteSource,
  SourceInput,
  SourceMode,
  type SourceRules,
  parseSource,
  storedSource,
} from './source.ts'

const DEFAULT_REGION = 'eu-central-1'
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/
const EMAIL = /^[^\s@"<>()[\]\\,;:]+@[^\s@"<>()[\]\\,;:]+$/
const MAX_SUPER_ADMINS = 50
const closed = { additionalProperties: false }

const Timestamp = Type.String({ description: 'ISO 8601, UTC' })

/** A site as its operator sees it. */
export const SiteRecord = Type.Object(
  {
    siteId: Type.String(),
    domain: Type.String(),
    /** The name of its administration; null where that is on the domain. */
    adminDomain: Type.Union([Type.String(), Type.Null()]),
    /** The name of its visitors' sign-in; null where that is on the domain. */
    authDomain: Type.Union([Type.String(), Type.Null()]),
    /** Names of that sign-in before, whose issuers still serve programs. */
    formerAuthDomains: Type.Array(Type.String()),
    region: Type.String(),
    sourceMode: SourceMode,
    repo: Type.Union([Repo, Type.Null()]),
    repoBinding: Type.Union([RepoBinding, Type.Null()]),
    deploymentSettings: DeploymentSettings,
    currentDeploymentId: Type.Union([Type.String(), Type.Null()]),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Site' },
)
export type SiteRecord = Static<typeof SiteRecord>

const OnboardingLink = Type.Object({ email: Type.String(), url: Type.String() })

export const CreatedSite = Type.Composite([
  SiteRecord,
  Type.Object({ onboarding: Type.Array(OnboardingLink) }),
])
export type CreatedSite = Static<typeof CreatedSite>

export const CreateSiteBody = ClosedObject({
  domain: Type.String({ maxLength: 300 }),
  adminDomain: Type.Optional(Type.Union([Type.String({ maxLength: 300 }), Type.Null()])),
  authDomain: Type.Optional(Type.Union([Type.String({ maxLength: 300 }), Type.Null()])),
  formerAuthDomains: Type.Optional(Type.Array(Type.String({ maxLength: 300 }))),
  region: Type.Optional(Type.String({ maxLength: 40 })),
  ...SourceInput.properties,
  deploymentSettings: Type.Optional(DeploymentSettingsInput),
  superAdmins: Type.Optional(
    Type.Array(Type.String({ maxLength: 254 }), { maxItems: MAX_SUPER_ADMINS }),
  ),
})
export type CreateSiteBody = Static<typeof CreateSiteBody>

export const UpdateSiteBody = Type.Partial(Type.Omit(CreateSiteBody, ['superAdmins']), {
  ...closed,
  minProperties: 1,
})
export type UpdateSiteBody = Static<typeof UpdateSiteBody>

/** What is configured about a site, every rule checked. */
export interface SiteConfiguration extends SiteNames {
  readonly region: string
  readonly source: SiteSource
  readonly deploymentSettings: DeploymentSettings
}

/** What is left out of the body stays as it is in `current`, or gets its default. Throws a fault that names the field. */
export function parseSite(
  body: UpdateSiteBody,
  current: SiteConfiguration | undefined,
  rules: SourceRules,
): SiteConfiguration {
  return {
    ...parseSiteNames(body, current),
    region: parseRegion(body.region ?? current?.region ?? DEFAULT_REGION),
    source: parseSource(body, current?.source, rules),
    deploymentSettings: parseSettings(body.deploymentSettings ?? {}, current?.deploymentSettings),
  }
}

/** Lower case, each once. */
export function parseSuperAdmins(emails: readonly string[]): readonly string[] {
  const wrong = emails.find((email) => !EMAIL.test(email))
  if (wrong !== undefined) throw invalid('superAdmins', `"${wrong}" is not an email address`)
  return [...new Set(emails.map((email) => email.toLowerCase()))]
}

/** A row of the directory. */
export interface SiteRow {
  readonly site_id: string
  readonly domain: string
  readonly admin_domain: string | null
  readonly auth_domain: string | null
  readonly former_auth_domains: readonly string[]
  readonly region: string
  readonly source_mode: SourceMode
  readonly repo: unknown
  readonly repo_binding: unknown
  readonly deployment_settings: unknown
  readonly current_deployment_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const configurationOf = (row: SiteRow): SiteConfiguration => ({
  domain: row.domain,
  adminDomain: row.admin_domain,
  authDomain: row.auth_domain,
  formerAuthDomains: row.former_auth_domains,
  region: row.region,
  source: storedSource(row),
  deploymentSettings: readDeploymentSettings(row.deployment_settings),
})

export function siteRecord(row: SiteRow): SiteRecord {
  const { source, ...configuration } = configurationOf(row)
  return {
    siteId: row.site_id,
    ...configuration,
    formerAuthDomains: [...configuration.formerAuthDomains],
    ...source,
    currentDeploymentId: row.current_deployment_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

function parseRegion(region: string): string {
  if (REGION.test(region)) return region
  throw invalid('region', `"${region}" is not a region, like "${DEFAULT_REGION}"`)
}
