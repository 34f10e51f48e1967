import type { EgressPolicy } from '#platform/egress/egress.ts'
import type { SiteIdentity } from '#platform/sandbox-host/call.ts'
import type { Program, ProgramFunction, StoreGrant } from '#platform/sandbox-host/sandbox.ts'
import type { OpenEnvVar } from '#runtime/env-vars/model.ts'
import { type AuthRule, scopesOfRule } from '#runtime/operations/model.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import type { CheckedSchema } from '#runtime/operations/schemas/json-schema.ts'
import type { Grant } from '#runtime/resources/function-config.ts'
import { egressPolicy, siteLimits } from '#runtime/revisions/limits.ts'
import { type WatchedCode, watchedCode } from '#sites/deployments/live-activation.ts'

import type {
  CurrentRevision,
  RevisionDocument,
  RevisionFunction,
  RevisionOperation,
  RevisionStore,
} from './revision-document.ts'

/** The id of the function that checks payloads of presets; no resource has it. */
export const PRESET_CHECK = 'preset-check'
/** The check is done before it is called. */
const CHECK_MODULE = {
  path: 'preset-check.js',
  format: 'esm',
  code: 'export default () => null',
} as const
const CHECK_TIMEOUT_MS = 10_000
/** Payloads of presets have at most 6 MiB. */
const CHECK_MEMORY_MB = 128

/** One revision of a site, ready to serve calls from memory. */
export interface PublishedSite {
  readonly siteId: string
  readonly revision: number
  readonly program: Program
  readonly operations: ReadonlyMap<string, PublishedOperation>
  /** Tables and buckets, by resource id. */
  readonly stores: ReadonlyMap<string, RevisionStore>
  readonly egress: EgressPolicy
  /** The deployment whose code this is, while it is watched. */
  readonly watchedCode: WatchedCode | null
}

export interface PublishedOperation {
  readonly name: string
  readonly auth: AuthRule
  readonly groups: ReadonlySet<string>
  /** All of which a token must have been granted. */
  readonly scopes: readonly string[]
  readonly cacheTtlSeconds: number
  readonly target: OperationTarget
  /** Whether its function answers HTTP itself: what comes for it goes past the JSON envelope. */
  readonly http: boolean
  /** What its payloads and results are checked against, if it is said. */
  readonly input?: CheckedSchema
  readonly output?: CheckedSchema
  readonly version: string
  readonly digest: string
  readonly callsOperations: boolean
  /** Answers that live and die together: of one version of the operation, while nothing changes that they depend on. */
  readonly cacheGroup: string
}

type OperationTarget =
  | { readonly kind: 'function'; readonly functionId: string }
  | { readonly kind: 'preset'; readonly binding: PresetBinding }
  /** The function does not load, or is not there. */
  | { readonly kind: 'fault'; readonly functionName: string; readonly message: string }

export function publishedSite(
  site: SiteIdentity,
  { revision, document }: CurrentRevision,
  read: {
    /** The version of each operation. */
    readonly versions: ReadonlyMap<string, string>
    readonly env: ReadonlyMap<string, OpenEnvVar>
  },
): PublishedSite {
  const functions = new Map(document.functions.map((entry) => [entry.functionId, entry]))
  return {
    siteId: site.siteId,
    revision,
    program: programOf(site, { revision, document }, read.env),
    operations: new Map(
      document.operations.map((operation) => [
        operation.operation,
        operationOf(operation, functions, {
          domain: site.domain,
          version: read.versions.get(operation.operation),
        }),
      ]),
    ),
    stores: new Map(document.stores.map((store) => [store.resourceId, store])),
    egress: egressPolicy(document.egressAllow),
    watchedCode: document.activation === undefined ? null : watchedCode(document.activation),
  }
}

/** The same site with the versions that its operations have now. */
export function atVersions(
  site: PublishedSite,
  domain: string,
  versions: ReadonlyMap<string, string>,
): PublishedSite {
  const operations = new Map<string, PublishedOperation>()
  for (const [name, operation] of site.operations) {
    const version = versions.get(name)
    const current = atVersion(operation, domain, version ?? '0')
    operations.set(name, version === undefined ? { ...current, cacheTtlSeconds: 0 } : current)
  }
  return { ...site, operations }
}

/** The same operation after its kept answers were dropped. */
export const atVersion = (
  operation: PublishedOperation,
  domain: string,
  version: string,
): PublishedOperation => ({
  ...operation,
  version,
  cacheGroup: cacheGroupOf(operation, domain, version),
})

/** Roughly what a published site keeps in memory, in bytes. */
export const weightOf = ({ program, operations }: PublishedSite): number => {
  const modules = new Set([...program.functions.values()].flatMap((entry) => entry.modules))
  const code = [...modules].reduce((sum, module) => sum + module.code.length * 2, 0)
  const env = [...program.functions.values()].flatMap((entry) => Object.values(entry.env))
  const values = env.reduce((sum, value) => sum + value.length * 2, 0)
  const schemas = [...operations.values()]
    .flatMap(({ input, output }) => [input, output])
    .reduce((sum, schema) => sum + (schema ? JSON.stringify(schema.check).length * 4 : 0), 0)
  return 2048 + operations.size * 512 + code + values + schemas
}

/** Functions see the site's domain, which changes without a revision. */
const cacheGroupOf = (
  { name, digest }: Pick<PublishedOperation, 'name' | 'digest'>,
  domain: string,
  version: string,
): string => `${name}@${version}.${digest}.${domain}`

function operationOf(
  { operation: name, auth, cacheTtlSeconds, functionId, preset, http, ...rest }: RevisionOperation,
  functions: ReadonlyMap<string, RevisionFunction>,
  at: { readonly domain: string; readonly version: string | undefined },
): PublishedOperation {
  // One that is deleted already, and answers until the next revision.
  const version = at.version ?? '0'
  return {
    ...rest,
    name,
    auth,
    http: http === true,
    groups: new Set(auth.mode === 'groups' ? auth.groups : []),
    scopes: scopesOfRule(auth),
    // Nothing that it answers can be dropped any more.
    cacheTtlSeconds: at.version === undefined ? 0 : cacheTtlSeconds,
    target:
      preset === null
        ? functionTarget(functionId ?? '', functions.get(functionId ?? ''))
        : { kind: 'preset', binding: preset },
    version,
    cacheGroup: cacheGroupOf({ name, digest: rest.digest }, at.domain, version),
  }
}

function functionTarget(
  functionId: string,
  compiled: RevisionFunction | undefined,
): OperationTarget {
  if (!compiled) {
    return { kind: 'fault', functionName: functionId, message: 'the function does not exist' }
  }
  if (compiled.fault !== null) {
    return { kind: 'fault', functionName: compiled.name, message: compiled.fault }
  }
  return { kind: 'function', functionId }
}

function programOf(
  site: SiteIdentity,
  { revision, document }: CurrentRevision,
  env: ReadonlyMap<string, OpenEnvVar>,
): Program {
  const loaded = document.functions.filter(({ fault }) => fault === null)
  return {
    key: `${site.siteId}@${revision}`,
    siteId: site.siteId,
    siteDomain: site.domain,
    limits: siteLimits(document.limits),
    functions: new Map([
      ...loaded.map((entry): [string, ProgramFunction] => [
        entry.functionId,
        programFunction(entry, document, env),
      ]),
      ...presetChecks(document),
    ]),
  }
}

const programFunction = (
  { modules: hashes, environment, grants, fault: _fault, ...rest }: RevisionFunction,
  { modules, stores, operations }: RevisionDocument,
  env: ReadonlyMap<string, OpenEnvVar>,
): ProgramFunction => ({
  ...rest,
  ...schemasOf(operations.filter(({ functionId }) => functionId === rest.functionId)),
  modules: hashes.flatMap((hash) => modules[hash] ?? []),
  env: environmentOf(environment, env),
  stores: grantedStores(grants, stores),
})

/** By operation; nothing where none of them has a schema. */
function schemasOf(operations: readonly RevisionOperation[]): Pick<ProgramFunction, 'schemas'> {
  const checked = operations.flatMap(({ operation, input, output }) =>
    input || output
      ? [
          [
            operation,
            { ...(input && { input: input.check }), ...(output && { output: output.check }) },
          ] as const,
        ]
      : [],
  )
  return checked.length === 0 ? {} : { schemas: Object.fromEntries(checked) }
}

/** The function that checks the payloads of presets: a payload is only ever read against a schema inside an isolate. */
function presetChecks({ operations }: RevisionDocument): [string, ProgramFunction][] {
  const { schemas } = schemasOf(operations.filter(({ preset }) => preset !== null))
  if (!schemas) return []
  const check = {
    functionId: PRESET_CHECK,
    name: PRESET_CHECK,
    entry: CHECK_MODULE.path,
    handler: 'default',
    modules: [CHECK_MODULE],
    env: {},
    timeoutMs: CHECK_TIMEOUT_MS,
    memoryMb: CHECK_MEMORY_MB,
    schemas,
    stores: new Map(),
  }
  return [[PRESET_CHECK, check]]
}

/** Grants by the name that a function calls its store by. A store that is gone has no grants. */
const grantedStores = (
  grants: readonly Grant[],
  stores: readonly RevisionStore[],
): ReadonlyMap<string, StoreGrant> =>
  new Map(
    grants.flatMap(({ resourceId, access }) => {
      const store = stores.find((each) => each.resourceId === resourceId)
      return store ? [[store.name, { resourceId, type: store.type, access }]] : []
    }),
  )

const environmentOf = (
  names: readonly string[],
  env: ReadonlyMap<string, OpenEnvVar>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const known = env.get(name)
      return known ? [[name, known.value]] : []
    }),
  )
