import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { parseShape } from '#runtime/shape.ts'

export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'timedOut' | 'skipped'

/** The trigger of a scheduled run. */
export const SCHEDULE_TRIGGER = 'schedule'
const BY_HAND = 'manual'

export const StartBody = ClosedObject({
  trigger: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

export interface RunError {
  readonly code: string
  readonly message: string
}

/** One run of a job, or one tick that was skipped. */
export interface JobRun {
  readonly runId: string
  readonly jobId: string
  readonly status: RunStatus
  readonly trigger: string
  readonly scheduledFor: Date | null
  /** Ticks before this one that no worker ran. */
  readonly missed: number
  readonly operation: string | null
  /** Is the same for all its attempts, and in the log. */
  readonly requestId: string
  readonly attempts: number
  /** JSON text; the start of it when the result is longer than is kept. */
  readonly result: string | null
  /** The length of the whole result. */
  readonly resultBytes: number | null
  readonly error: RunError | null
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export type LastRun = Pick<
  JobRun,
  'runId' | 'status' | 'trigger' | 'scheduledFor' | 'startedAt' | 'finishedAt'
>

/** A run that is not over. */
export type OpenRun = Pick<JobRun, 'runId' | 'status' | 'trigger'>

/** Runs of one job never overlap: why another one does not begin now. */
export const overlapOf = ({ runId, status, trigger }: OpenRun): RunError => ({
  code: 'JobOverlap',
  message: `Run "${runId}" of this job (${trigger}) is not over yet: it is ${status}`,
})

/** Who or what starts a run by hand; never what a scheduled run says. */
export function parseTrigger(body: Static<typeof StartBody>): string {
  const { trigger = BY_HAND } = parseShape(StartBody, body)
  if (trigger === SCHEDULE_TRIGGER) {
    throw invalid(
      'trigger',
      `"${SCHEDULE_TRIGGER}" is what scheduled runs say: choose another word`,
    )
  }
  return trigger
}
