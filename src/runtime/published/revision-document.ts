import type { Module, SiteLimits } from '#platform/sandbox-host/sandbox.ts'
import type { SealedEnvVar } from '#runtime/env-vars/model.ts'
import type { AuthRule } from '#runtime/operations/model.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import type { CheckedSchema } from '#runtime/operations/schemas/json-schema.ts'
import type { Grant } from '#runtime/resources/function-config.ts'
import type { BucketResource, TableResource } from '#runtime/resources/model.ts'
import type { LiveActivation } from '#sites/deployments/live-activation.ts'

/** Bumped when the shape changes; a replica that does not know the format asks for a new sync instead of guessing. */
export const DOCUMENT_FORMAT = 4

/** Everything that serving a site's calls needs, compiled from its control plane. Written once, never changed. */
export interface RevisionDocument {
  readonly format: typeof DOCUMENT_FORMAT
  readonly operations: readonly RevisionOperation[]
  readonly functions: readonly RevisionFunction[]
  /** Tables and buckets: what functions are granted and presets depend on. */
  readonly stores: readonly RevisionStore[]
  /** By the hash that functions name; files that functions share are there once. */
  readonly modules: Readonly<Record<string, Module>>
  /** The variables that functions name; those without a value are absent. */
  readonly env: readonly SealedEnvVar[]
  readonly egressAllow: readonly string[]
  /** Those that have come since it was written are not there: they have their defaults. */
  readonly limits: Partial<SiteLimits>
  /** The activation that the code is of; none without a deployment, and in documents of earlier versions. */
  readonly activation?: LiveActivation
}

/** A table or a bucket, as calls need it. */
export type RevisionStore =
  | Pick<TableResource, 'resourceId' | 'type' | 'name' | 'config'>
  | Pick<BucketResource, 'resourceId' | 'type' | 'name' | 'config'>

export interface RevisionOperation {
  readonly operation: string
  readonly auth: AuthRule
  readonly cacheTtlSeconds: number
  /** Exactly one of the two. */
  readonly functionId: string | null
  readonly preset: PresetBinding | null
  /** Its function answers HTTP itself. */
  readonly http?: true
  /** What its payloads and results are checked against. Absent where it has none, and in documents of earlier versions. */
  readonly input?: CheckedSchema
  readonly output?: CheckedSchema
  /** Changes with whatever its answers may depend on, besides who asks for what and what is stored. */
  readonly digest: string
  /** Whether its code mentions `ctx.operation`: then all operations of the site take part in its digest. */
  readonly callsOperations: boolean
}

export interface RevisionFunction {
  readonly functionId: string
  readonly name: string
  readonly entry: string
  readonly handler: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly grants: readonly Grant[]
  /** Names of the variables that it may see. */
  readonly environment: readonly string[]
  /** Hashes into `modules`, the entry first. Empty when there is a fault. */
  readonly modules: readonly string[]
  /** Why the function does not load. Its operations answer with it; the others are not held up. */
  readonly fault: string | null
}

export interface CurrentRevision {
  readonly revision: number
  readonly document: RevisionDocument
}

/** Reads a document back from its column; undefined when another version of the service wrote it. */
export function parseRevision({
  revision,
  document,
}: {
  readonly revision: number
  readonly document: unknown
}): CurrentRevision | undefined {
  const known =
    typeof document === 'object' &&
    document !== null &&
    'format' in document &&
    document.format === DOCUMENT_FORMAT
  return known ? { revision, document: document as RevisionDocument } : undefined
}
