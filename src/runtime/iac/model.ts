import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'
import type { Change, ChangeAction, Mode } from '#runtime/definitions/plan.ts'

/** Jobs of a site that wait or run. */
export const MAX_OPEN_JOBS = 20
export const MAX_PROFILES = 50
/** Finished jobs of a site that can be looked at. */
export const KEPT_JOBS = 100
export const KEPT_DAYS = 90
/** More than a site can have. */
const MAX_DELETIONS = 5000

export const ProfileName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  fault: 'must start with a letter or digit, then up to 63 letters, digits, ".", "-" or "_"',
})

const Deletion = ClosedObject({
  section: Type.String({ maxLength: 16 }),
  name: Type.String({ maxLength: 512 }),
  /** What it was shown to hold: a client that agrees may send the entry unchanged. */
  items: Type.Optional(Type.Integer()),
  objects: Type.Optional(Type.Integer()),
  bytes: Type.Optional(Type.Integer()),
  atLeast: Type.Optional(Type.Literal(true)),
})

export const IacRequest = ClosedObject({
  mode: Type.Union([Type.Literal('plan'), Type.Literal('apply'), Type.Literal('replace')]),
  definition: Type.Optional(Type.Unknown()),
  definitionProfileName: Type.Optional(ProfileName),
  /** Saves the inline definition under the profile's name. */
  persistDefinition: Type.Optional(Type.Boolean()),
  /** Agrees to what `replace` deletes: to all that it would delete now, or to these and no other. */
  confirm: Type.Optional(
    Type.Union([Type.Boolean(), Type.Array(Deletion, { maxItems: MAX_DELETIONS })], {
      fault: 'must be true, or the "deletions" that you agree to: [{ "section", "name" }]',
    }),
  ),
})
export type IacRequest = Static<typeof IacRequest>

export type IacStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
export type DefinitionSource = 'inline' | 'profile' | 'deployment'
export type ChangeStatus = 'pending' | 'planned' | 'unchanged' | 'succeeded' | 'failed' | 'skipped'

export interface IacJob {
  readonly jobId: string
  readonly number: string
  readonly mode: Mode
  readonly source: DefinitionSource
  readonly profileName: string | null
  readonly deploymentId: string | null
  readonly persisted: boolean
  /** What it may delete, as `{section} {name}`. */
  readonly agreed: readonly string[]
  /** As the audit trail names them. */
  readonly requestedBy: string
  readonly status: IacStatus
  readonly attempts: number
  /** Why it failed. */
  readonly error: string | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

/** What a new job says. */
export type IacJobOrder = Pick<
  IacJob,
  'mode' | 'source' | 'profileName' | 'deploymentId' | 'persisted' | 'requestedBy'
>

export interface IacChange extends Change {
  readonly position: number
  readonly status: ChangeStatus
  readonly error: string | null
}

export interface IacSummary {
  readonly created: number
  readonly updated: number
  readonly renamed: number
  readonly deleted: number
  readonly unchanged: number
  readonly failed: number
  readonly changes: readonly IacChange[]
}

const DONE: readonly ChangeStatus[] = ['succeeded', 'planned']

/** Counts what was done, or in a plan what would be. */
export function summaryOf(changes: readonly IacChange[]): IacSummary {
  const done = (action: ChangeAction) =>
    changes.filter((change) => change.action === action && DONE.includes(change.status)).length
  const inState = (status: ChangeStatus) =>
    changes.filter((change) => change.status === status).length
  return {
    created: done('create'),
    updated: done('update'),
    renamed: done('rename'),
    deleted: done('delete'),
    unchanged: inState('unchanged'),
    failed: inState('failed'),
    changes,
  }
}

export const isFinished = (status: IacStatus): boolean =>
  status !== 'queued' && status !== 'running'
