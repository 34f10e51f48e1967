import { type Static, Type } from '@sinclair/typebox'

import type { JobWithLastRun, ListedJobWithLastRun } from '#runtime/jobs/jobs.ts'
import type { JobRun, LastRun } from '#runtime/jobs/run-model.ts'
import { parseResult } from '#runtime/jobs/run-result.ts'
import type { RunWithLog } from '#runtime/jobs/runs.ts'
import { LogRecord } from '#runtime/logs/model.ts'

import { MaybeText, MaybeTime, viewOf } from './views.ts'

/** In a list of runs; a longer result is read with its run. */
const MAX_LISTED_RESULT_BYTES = 8 * 1024

const MaybeNumber = Type.Union([Type.Number(), Type.Null()])

const LastRunView = Type.Object({
  runId: Type.String(),
  status: Type.String(),
  trigger: Type.String(),
  scheduledFor: MaybeTime,
  startedAt: MaybeTime,
  finishedAt: MaybeTime,
  durationMs: MaybeNumber,
})

const JOB = {
  jobId: Type.String(),
  operation: Type.String(),
  schedule: Type.Union([
    Type.Object({ cron: Type.String(), timezone: Type.Optional(Type.String()) }),
    Type.Null(),
  ]),
  auth: Type.Object({ mode: Type.String(), username: Type.Optional(Type.String()) }),
  enabled: Type.Boolean(),
  nextRunAt: MaybeTime,
  lastRun: Type.Union([LastRunView, Type.Null()]),
  createdAt: Type.Date(),
  updatedAt: Type.Date(),
}

export const JobView = Type.Object({ ...JOB, payload: Type.Unknown() }, { title: 'Job' })

/** A long payload is left out. */
export const ListedJobView = Type.Object({
  ...JOB,
  payload: Type.Optional(Type.Unknown()),
  payloadBytes: Type.Integer(),
})

const RUN = {
  runId: Type.String(),
  jobId: Type.String(),
  status: Type.String(),
  trigger: Type.String(),
  scheduledFor: MaybeTime,
  missed: Type.Integer(),
  operation: MaybeText,
  requestId: Type.String(),
  attempts: Type.Integer(),
  resultBytes: MaybeNumber,
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  createdAt: Type.Date(),
  startedAt: MaybeTime,
  finishedAt: MaybeTime,
  durationMs: MaybeNumber,
}

/** A long result is left out. */
export const ListedRunView = Type.Object({
  ...RUN,
  result: Type.Optional(Type.Unknown()),
  resultTruncated: Type.Boolean(),
})

export const RunView = Type.Object(
  {
    ...RUN,
    result: Type.Unknown(),
    resultTruncated: Type.Boolean(),
    logs: Type.Array(LogRecord),
  },
  { title: 'JobRun' },
)

export const jobView = (job: JobWithLastRun): Static<typeof JobView> =>
  viewOf(JobView, withLastRunView(job))

export function listedJobView(job: ListedJobWithLastRun): Static<typeof ListedJobView> {
  const { payload, payloadLeftOut, ...rest } = withLastRunView(job)
  return viewOf(ListedJobView, payloadLeftOut ? rest : { ...rest, payload })
}

export function listedRunView(run: JobRun): Static<typeof ListedRunView> {
  const { result, resultTruncated } = parseResult(run)
  const long = (run.resultBytes ?? 0) > MAX_LISTED_RESULT_BYTES
  const { result: _kept, ...rest } = { ...withDuration(run), resultTruncated }
  return viewOf(ListedRunView, long ? rest : { ...rest, result })
}

export const runView = ({ run, log }: RunWithLog): Static<typeof RunView> =>
  viewOf(RunView, { ...withDuration(run), ...parseResult(run), logs: [...log] })

const withLastRunView = <Kind extends JobWithLastRun>(job: Kind) => ({
  ...job,
  lastRun: job.lastRun && viewOf(LastRunView, withDuration(job.lastRun)),
})

/** A skipped tick ended without a start: it has no duration. */
const withDuration = <Run extends LastRun>(run: Run) => ({
  ...run,
  durationMs:
    run.startedAt && run.finishedAt ? run.finishedAt.getTime() - run.startedAt.getTime() : null,
})
