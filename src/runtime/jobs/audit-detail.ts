import { isDeepStrictEqual } from 'node:util'

import { changedValues } from '#base/changed-values.ts'
import type { AuditDetail } from '#platform/postgres/audit.ts'

import type { JobDefinition } from './model.ts'

type JobFacts = Omit<JobDefinition, 'payload'>

/** For the audit trail: what the job calls, when, and as which user. Its payload may hold anything. */
export const jobDetail = (jobId: string, job: JobFacts): AuditDetail => ({
  jobId,
  ...valuesOf(job),
})

/** For the audit trail: what differs; of the payload only that it does. */
export const jobChange = (
  jobId: string,
  before: JobDefinition,
  after: JobDefinition,
): AuditDetail => ({
  jobId,
  ...changedValues(valuesOf(before), valuesOf(after)),
  ...(!isDeepStrictEqual(before.payload, after.payload) && { changed: 'payload' }),
})

const valuesOf = ({ operation, schedule, auth, enabled }: JobFacts) => ({
  operation,
  ...(schedule !== null && {
    cron: schedule.cron,
    ...(schedule.timezone !== undefined && { timezone: schedule.timezone }),
  }),
  runAs: auth.mode === 'user' ? auth.username : auth.mode,
  enabled,
})
