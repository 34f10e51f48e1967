import { type Static, Type } from '@sinclair/typebox'

import { MaybeText, MaybeTime, PermissionsSyncView } from '#http/admin-data/views.ts'
import type { IacJob, IacSummary } from '#runtime/iac/model.ts'
import type { IacJobWithSummary } from '#runtime/iac/service.ts'
import type { PermissionsSync } from '#runtime/revisions/model.ts'

const JOB = {
  jobId: Type.String(),
  status: Type.String(),
  mode: Type.String(),
  definitionSource: Type.String(),
  definitionProfileName: MaybeText,
  deploymentId: MaybeText,
  definitionPersisted: Type.Boolean(),
  /** Why it failed. */
  error: MaybeText,
  createdAt: Type.Date(),
  startedAt: MaybeTime,
  finishedAt: MaybeTime,
}

export const ListedIacJobView = Type.Object(JOB)

const ChangeView = Type.Object({
  section: Type.String(),
  name: Type.String(),
  action: Type.String(),
  status: Type.String(),
  /** What an update changes. */
  fields: Type.Optional(Type.Array(Type.String())),
  /** The name before, where the definition says one. */
  renamedFrom: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
})

export const IacJobView = Type.Object(
  {
    ...JOB,
    permissionsSync: PermissionsSyncView,
    summary: Type.Object({
      created: Type.Integer(),
      updated: Type.Integer(),
      renamed: Type.Integer(),
      deleted: Type.Integer(),
      unchanged: Type.Integer(),
      failed: Type.Integer(),
      changes: Type.Array(ChangeView),
    }),
  },
  { title: 'IacJob' },
)

/** A definition's sections, each a list of items. */
export const DefinitionView = Type.Unsafe<Record<string, readonly object[]>>(
  Type.Record(Type.String(), Type.Array(Type.Unknown())),
)

export const SubmittedView = Type.Object({
  jobId: Type.String(),
  status: Type.Literal('queued'),
  definitionSource: Type.String(),
  definitionPersisted: Type.Boolean(),
  permissionsSync: PermissionsSyncView,
})

export const listedIacJobView = (job: IacJob): Static<typeof ListedIacJobView> => ({
  jobId: job.jobId,
  status: job.status,
  mode: job.mode,
  definitionSource: job.source,
  definitionProfileName: job.profileName,
  deploymentId: job.deploymentId,
  definitionPersisted: job.persisted,
  error: job.error,
  createdAt: job.createdAt,
  startedAt: job.startedAt,
  finishedAt: job.finishedAt,
})

/** `site` is the state of the site's permission sync. */
export const iacJobView = (
  { job, summary }: IacJobWithSummary,
  site: PermissionsSync,
): Static<typeof IacJobView> => ({
  ...listedIacJobView(job),
  // What it does is published when it ends.
  permissionsSync: job.finishedAt === null && job.mode !== 'plan' ? { status: 'queued' } : site,
  summary: { ...summary, changes: summary.changes.map(changeView) },
})

const changeView = ({
  position: _position,
  fields,
  error,
  renamedFrom,
  ...change
}: IacSummary['changes'][number]): Static<typeof ChangeView> => ({
  ...change,
  ...(fields.length === 0 ? {} : { fields: [...fields] }),
  ...(error === null ? {} : { error }),
  ...(renamedFrom === null ? {} : { renamedFrom }),
  ...(renamedFrom === null || change.action !== 'create'
    ? {}
    : { note: `there was no "${renamedFrom}" to rename: created` }),
})
