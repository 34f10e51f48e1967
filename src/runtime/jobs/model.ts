import { isDeepStrictEqual } from 'node:util'

import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { jsonTextWithin } from '#base/json-depth.ts'
import { SiteName, parseShape } from '#runtime/shape.ts'

import { type ScheduleText, parseSchedule } from './schedules/schedule.ts'
import { nextTick } from './schedules/ticks.ts'

export const MAX_JOBS = 200
const MAX_PAYLOAD_BYTES = 256 * 1024
/** The envelope of a call is one level. */
const MAX_PAYLOAD_DEPTH = 127

export const ScheduleInput = ClosedObject({
  cron: Type.String({ minLength: 1, maxLength: 256 }),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
})

export const JobAuthInput = ClosedObject({
  mode: Type.Union([Type.Literal('system'), Type.Literal('user')]),
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
})

/** The whole of a job: what is left out has its default, and without a schedule it is only started by hand. */
export const JobBody = ClosedObject({
  operation: SiteName,
  payload: Type.Optional(Type.Unknown()),
  schedule: Type.Optional(Type.Union([ScheduleInput, Type.Null()])),
  auth: Type.Optional(JobAuthInput),
  enabled: Type.Optional(Type.Boolean()),
})
export type JobBody = Static<typeof JobBody>

export type JobAuth =
  | { readonly mode: 'system' }
  | { readonly mode: 'user'; readonly username: string }

/** What a job says. */
export interface JobDefinition {
  readonly operation: string
  readonly payload: unknown
  /** Null for a job that is only started by hand. */
  readonly schedule: ScheduleText | null
  readonly auth: JobAuth
  /** False stops the schedule; the job can still be started by hand. */
  readonly enabled: boolean
}

export interface Job extends JobDefinition {
  readonly jobId: string
  /** Null without a schedule, or with one that is stopped or over. */
  readonly nextRunAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const DEFAULTS = { payload: null, schedule: null, auth: { mode: 'system' }, enabled: true } as const

/** Throws a `ValidationError` that names each wrong field. Whether the operation exists is asked when the job is written. */
export function parseJob(value: unknown, now: Date): JobDefinition {
  checkPayload(value)
  const { auth, schedule, ...rest } = parseShape(JobBody, value)
  if (schedule) checkFires(schedule, now.getTime())
  return {
    ...DEFAULTS,
    ...rest,
    ...(schedule === undefined ? {} : { schedule }),
    ...(auth === undefined ? {} : { auth: parseAuth(auth) }),
  }
}

export function parseJobId(jobId: string): string {
  parseShape(Type.Object({ jobId: SiteName }), { jobId })
  return jobId
}

/** Whether `job` has all that `definition` says. */
export const sameJob = (job: Job, definition: JobDefinition): boolean =>
  isDeepStrictEqual({ ...job, ...definition }, { ...job })

export const sameSchedule = (a: JobDefinition, b: JobDefinition): boolean =>
  a.enabled === b.enabled && isDeepStrictEqual(a.schedule, b.schedule)

/** Before anything walks it. */
function checkPayload(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('payload' in value)) return
  const text = jsonTextWithin(value.payload, MAX_PAYLOAD_DEPTH)
  if (text === undefined) {
    throw invalid('payload', `is nested deeper than ${MAX_PAYLOAD_DEPTH} levels`)
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw new AppError(
      'PayloadTooLarge',
      `The payload of a job is at most ${MAX_PAYLOAD_BYTES} bytes of JSON, this one has ${bytes}`,
      { fields: { limitBytes: MAX_PAYLOAD_BYTES } },
    )
  }
}

function checkFires(schedule: ScheduleText, now: number): void {
  if (nextTick(parseSchedule(schedule), now, now) !== undefined) return
  throw invalid('schedule.cron', `"${schedule.cron}" never comes: there is no such date`)
}

function parseAuth({ mode, username }: Static<typeof JobAuthInput>): JobAuth {
  if (mode === 'user') {
    if (username === undefined) {
      throw invalid('auth.username', 'is required in mode "user": name the user to run as')
    }
    return { mode, username }
  }
  if (username !== undefined) {
    throw invalid('auth.username', 'has no meaning in mode "system": leave it out or use "user"')
  }
  return { mode }
}
