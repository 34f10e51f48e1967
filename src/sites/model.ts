import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'

import {
  DeploymentSettings,
  DeploymentSettingsInput,
  parseSettings,
  readDeploymentSettings,
} from './deployment-settings.ts'
import { parseDomain } from './domain.ts'
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
export const SiteRecord = Type.Object({
  siteId: Type.String(),
  domain: Type.String(),
  /** The name of its administration; null where that is on the domain. */
  adminDomain: Type.Union([Type.String(), Type.Null()]),
  region: Type.String(),
  sourceMode: SourceMode,
  repo: Type.Union([Repo, Type.Null()]),
  repoBinding: Type.Union([RepoBinding, Type.Null()]),
  deploymentSettings: DeploymentSettings,
  currentDeploymentId: Type.Union([Type.String(), Type.Null()]),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
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
export interface SiteConfiguration {
  readonly domain: string
  readonly adminDomain: string | null
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
  const domain = parseDomain(body.domain ?? current?.domain ?? '')
  return {
    domain,
    adminDomain: parseAdminDomain(body.adminDomain, current, domain),
    region: parseRegion(body.region ?? current?.region ?? DEFAULT_REGION),
    source: parseSource(body, current?.source, rules),
    deploymentSettings: parseSettings(body.deploymentSettings ?? {}, current?.deploymentSettings),
  }
}

/** Every name under which something of the site is reached. */
export const hostsOf = ({ domain, adminDomain }: SiteNames): readonly string[] =>
  adminDomain === null ? [domain] : [domain, adminDomain]

/** What it was, if nothing is said of it. */
function parseAdminDomain(
  said: string | null | undefined,
  current: SiteConfiguration | undefined,
  domain: string,
): string | null {
  const name = said === undefined ? (current?.adminDomain ?? null) : said
  if (name === null) return null
  if (name === domain) throw invalid('adminDomain', 'is the domain itself: leave it out for that')
  return parseDomain(name, 'adminDomain')
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
  region: row.region,
  source: storedSource(row),
  deploymentSettings: readDeploymentSettings(row.deployment_settings),
})

export function siteRecord(row: SiteRow): SiteRecord {
  const { source, ...configuration } = configurationOf(row)
  return {
    siteId: row.site_id,
    ...configuration,
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
