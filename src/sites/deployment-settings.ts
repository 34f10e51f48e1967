import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'

import { AutoRollback } from './deployments/rollback-rule.ts'
import { domainFault } from './domain.ts'

const MAX_ENTRIES = 200
const Entries = Type.Array(Type.String({ maxLength: 300 }), { maxItems: MAX_ENTRIES })

/** What the operator may change about a site's runtime limits; what is left out is the installation's default. */
const LIMITS = {
  /** Calls of the site that run at once. */
  concurrency: Type.Integer({ minimum: 1, maximum: 256 }),
  /** Calls of the site that wait for something inside isolates; 0 for none beside as many as may run. */
  suspendedCalls: Type.Integer({ minimum: 0, maximum: 10_000 }),
  /** Calls of the site whose requests or responses are streams. */
  openStreams: Type.Integer({ minimum: 0, maximum: 10_000 }),
  /** Calls that wait for a place; 0 for none: a call then runs if a place is free. */
  queueLength: Type.Integer({ minimum: 0, maximum: 10_000 }),
  queueMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  /** One uninterrupted stretch of site code. */
  cpuMs: Type.Integer({ minimum: 10, maximum: 60_000 }),
  resultBytes: Type.Integer({ minimum: 1024, maximum: 6 * 1024 * 1024 }),
  logLineLength: Type.Integer({ minimum: 80, maximum: 65_536 }),
  logLines: Type.Integer({ minimum: 0, maximum: 10_000 }),
  /** What all buckets of the site hold together. */
  bucketBytes: Type.Integer({ minimum: 0, maximum: 2 ** 50 }),
  bucketObjects: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  /** What all tables of the site hold together. */
  tableBytes: Type.Integer({ minimum: 0, maximum: 2 ** 50 }),
  tableItems: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  /** What all mailboxes of the site hold together. */
  mailBytes: Type.Integer({ minimum: 0, maximum: 2 ** 50 }),
  mailMessages: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  /** What the packs of the site's repository hold together. */
  repositoryBytes: Type.Integer({ minimum: 0, maximum: 2 ** 40 }),
} as const

const Limits = Type.Partial(Type.Object(LIMITS))

export const DeploymentSettings = Type.Object(
  {
    /** Where site code may `fetch`: `host`, `host:port`, `*.domain`, or `*` for every public host. */
    egress: Type.Object({ allow: Entries }),
    /** Browser origins that may call `/data`, beside the site's own. */
    cors: Type.Object({ origins: Entries }),
    limits: Limits,
    autoRollback: AutoRollback,
  },
  { title: 'DeploymentSettings' },
)
export type DeploymentSettings = Static<typeof DeploymentSettings>

/** What a caller may send. A list replaces the list; a limit of `null` goes back to the default. */
export const DeploymentSettingsInput = ClosedObject(
  {
    egress: Type.Optional(ClosedObject({ allow: Entries })),
    cors: Type.Optional(ClosedObject({ origins: Entries })),
    autoRollback: Type.Optional(
      Type.Partial(AutoRollback, { additionalProperties: false, minProperties: 1 }),
    ),
    limits: Type.Optional(
      ClosedObject({
        concurrency: resettable(LIMITS.concurrency),
        suspendedCalls: resettable(LIMITS.suspendedCalls),
        openStreams: resettable(LIMITS.openStreams),
        queueLength: resettable(LIMITS.queueLength),
        queueMs: resettable(LIMITS.queueMs),
        cpuMs: resettable(LIMITS.cpuMs),
        resultBytes: resettable(LIMITS.resultBytes),
        logLineLength: resettable(LIMITS.logLineLength),
        logLines: resettable(LIMITS.logLines),
        bucketBytes: resettable(LIMITS.bucketBytes),
        bucketObjects: resettable(LIMITS.bucketObjects),
        tableBytes: resettable(LIMITS.tableBytes),
        tableItems: resettable(LIMITS.tableItems),
        mailBytes: resettable(LIMITS.mailBytes),
        mailMessages: resettable(LIMITS.mailMessages),
        repositoryBytes: resettable(LIMITS.repositoryBytes),
      }),
    ),
  },
  { title: 'DeploymentSettingsChange' },
)
export type DeploymentSettingsInput = Static<typeof DeploymentSettingsInput>

const DEFAULTS: DeploymentSettings = {
  egress: { allow: ['*'] },
  cors: { origins: [] },
  limits: {},
  autoRollback: { enabled: false, failurePercent: 50, minCalls: 20 },
}

/** The settings after `input`, starting from `current` or from the defaults. Throws a fault that names the field. */
export function parseSettings(
  input: DeploymentSettingsInput,
  current: DeploymentSettings = DEFAULTS,
): DeploymentSettings {
  const allow = unique(input.egress?.allow ?? current.egress.allow)
  const origins = unique(input.cors?.origins ?? current.cors.origins)
  refuseFirst('egress.allow', allow, egressFault)
  refuseFirst('cors.origins', origins, originFault)
  const limits = Object.entries({ ...current.limits, ...input.limits })
  return {
    egress: { allow },
    cors: { origins },
    limits: Object.fromEntries(limits.filter(([, value]) => value !== null)),
    autoRollback: { ...current.autoRollback, ...input.autoRollback },
  }
}

/** Settings as the database keeps them: a section that an older version did not know is its default. */
export function readDeploymentSettings(value: unknown): DeploymentSettings {
  const merged: unknown = typeof value === 'object' ? { ...DEFAULTS, ...value } : DEFAULTS
  if (Value.Check(DeploymentSettings, merged)) return merged
  throw new AppError('InternalError', 'The site’s stored deployment settings cannot be read')
}

function resettable<Limit extends typeof LIMITS.concurrency>(limit: Limit) {
  const fault = `must be a whole number from ${limit.minimum} to ${limit.maximum}, or null for the default`
  return Type.Optional(Type.Union([limit, Type.Null()], { fault }))
}

const unique = (entries: readonly string[]): string[] => [...new Set(entries)]

function refuseFirst(
  field: string,
  entries: readonly string[],
  fault: (entry: string) => string | undefined,
): void {
  for (const entry of entries) {
    const found = fault(entry)
    if (found !== undefined) throw invalid(`deploymentSettings.${field}`, `"${entry}" ${found}`)
  }
}

function egressFault(entry: string): string | undefined {
  if (entry === '*') return undefined
  const [host = '', port, ...rest] = entry.split(':')
  if (rest.length > 0 || (port !== undefined && !isPort(port))) return 'has no valid port'
  const name = host.startsWith('*.') && port === undefined ? host.slice(2) : host
  return domainFault(name) === undefined || isIpv4(name)
    ? undefined
    : 'is not "host", "host:port", "*.domain" or "*"'
}

function originFault(entry: string): string | undefined {
  const url = URL.canParse(entry) ? new URL(entry) : undefined
  const right = url?.origin === entry && /^https?:$/.test(url.protocol)
  return right
    ? undefined
    : 'is not an origin, like "https://shop.example" or "http://localhost:5173"'
}

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535
const isIpv4 = (text: string): boolean => /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text)
