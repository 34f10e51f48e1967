import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import type { DefinedItem, DefinitionSection, SiteItem } from '#runtime/definitions/section.ts'
import type { Jobs } from '#runtime/jobs/jobs.ts'
import { type JobDefinition, MAX_JOBS } from '#runtime/jobs/model.ts'
import { SiteName, parseShape } from '#runtime/shape.ts'

/** The name alone: the rest is what the route of jobs takes. */
const NamedJob = Type.Object({
  jobId: Type.Optional(SiteName),
  /** Another word for `jobId`. */
  name: Type.Optional(SiteName),
})

/** Calls of operations that a schedule or a person starts. */
export const jobSection = (jobs: Jobs): DefinitionSection => ({
  name: 'jobs',
  maxItems: MAX_JOBS,
  parse(value): DefinedItem {
    const { jobId, name, ...body } = parseShape(NamedJob, value) as Static<typeof NamedJob> & object
    const job = jobs.check(body)
    const id = idOf(jobId, name)
    return {
      ...itemOf(id, job),
      fault: (tx) => jobs.userFault(tx, job),
      put: (tx, { audit, toDelete }) => jobs.write(tx, id, job, { audit, toDelete: toDelete.size }),
    }
  },
  all: async (tx) => (await jobs.all(tx)).map((job) => itemOf(job.jobId, job)),
  rename: (tx, names, { audit }) => jobs.rename(tx, names, audit),
  delete: (tx, name, { audit }) => jobs.delete(tx, name, audit),
})

function idOf(jobId: string | undefined, name: string | undefined): string {
  if (jobId !== undefined && name !== undefined && jobId !== name) {
    throw invalid('name', 'is another word for "jobId": give one of them')
  }
  const id = jobId ?? name
  if (id === undefined) throw invalid('jobId', 'is required')
  return id
}

const itemOf = (
  jobId: string,
  { operation, payload, schedule, auth, enabled }: JobDefinition,
): SiteItem => ({
  name: jobId,
  canonical: { jobId, operation, payload, schedule, auth, enabled },
  links: [{ field: 'operation', section: 'operations', name: operation }],
})
