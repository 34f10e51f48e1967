import { NewDataGroup } from '#identity/groups/model.ts'
import { DefinedEnvVar } from '#runtime/definitions/sections/env-vars.ts'
import { JobAuthInput, JobBody, ScheduleInput } from '#runtime/jobs/model.ts'
import { SiteName } from '#runtime/shape.ts'

import { described, plain, type JsonSchema } from './described.ts'

/** Of items that keep what they hold under another name. */
const RENAMED_FROM: JsonSchema = {
  description: 'The name that the item had before. The item keeps its contents, and links follow.',
  type: 'string',
  minLength: 1,
  maxLength: 512,
}

const VARIABLE = described(DefinedEnvVar, 'An environment variable.', {
  name: {
    description: 'Letters, digits and "_", not beginning with a digit, "CROFT_" or "DENO_".',
    type: 'string',
    pattern: '^(?!CROFT_|DENO_)[A-Za-z_][A-Za-z0-9_]{0,127}$',
  },
  value: 'The value. A variable without one keeps the value that was set before.',
  secret: 'Whether the value is never shown again, and redacted from logs.',
  storageBackend: 'Where it is stored: "ssmSecureString" (default) or "ssmString".',
})

/** A secret is stored encrypted. */
export const ENV_VAR: JsonSchema = {
  ...VARIABLE,
  not: {
    properties: { secret: { const: true }, storageBackend: { const: 'ssmString' } },
    required: ['secret', 'storageBackend'],
  },
}

export const GROUP = renamable(
  described(NewDataGroup, 'A group of visitors.', {
    groupName: 'Name of the group, without blanks.',
    description: 'What the group is for.',
  }),
)

const SCHEDULE = described(ScheduleInput, 'When the job runs.', {
  cron: 'A cron expression: minute, hour, day of the month, month, day of the week.',
  timezone: 'An IANA time zone, such as "Europe/Berlin".',
})

const AUTH = described(JobAuthInput, 'Who the operation is called as.', {
  mode: '"system" (default), or "user" with "username".',
  username: 'E-mail address of the user, in mode "user".',
})

const JOB_BODY = described(JobBody, 'A call of an operation.', {
  operation: 'Name of the operation to call.',
  payload: 'What the operation gets: any JSON, up to 256 KiB.',
  schedule: {
    description: 'When the job runs; null or left out: only by hand.',
    anyOf: [SCHEDULE, { type: 'null' }],
  },
  auth: AUTH,
  enabled: 'False stops the schedule.',
})

const jobName = (description: string): JsonSchema => ({ description, ...plain(SiteName) })

export const JOB: JsonSchema = {
  ...renamable(JOB_BODY, {
    jobId: jobName('Name of the job.'),
    name: jobName('Another word for "jobId".'),
  }),
  anyOf: [{ required: ['jobId'] }, { required: ['name'] }],
}

export const STATIC: JsonSchema = {
  description: 'How the public files are served.',
  type: 'object',
  properties: {
    directory: {
      description: 'Folder of the public files in the artifact; "public" if left out.',
      type: 'string',
      minLength: 1,
    },
    cleanUrls: { description: 'Whether "/about" is "about.html". Default: true.', type: 'boolean' },
    spa: {
      description:
        'The page that answers for the paths of a single-page application, such as "/app.html"; true is "/index.html".',
      anyOf: [{ type: 'boolean' }, { type: 'string', pattern: '^/', maxLength: 500 }],
    },
  },
  additionalProperties: false,
}

/** The object with `renamedFrom`, and with these fields before its own. */
export function renamable(object: JsonSchema, before: JsonSchema = {}): JsonSchema {
  const own = object['properties']
  if (typeof own !== 'object') throw new Error('A section holds objects')
  return { ...object, properties: { ...before, ...own, renamedFrom: RENAMED_FROM } }
}
