import { join, resolve } from 'node:path'

import { MAX_GROUPS } from '#identity/groups/model.ts'
import { MAX_ENV_VARS } from '#runtime/env-vars/model.ts'
import { MAX_JOBS } from '#runtime/jobs/model.ts'
import { MAX_OPERATIONS } from '#runtime/operations/model.ts'
import { MAX_RESOURCES } from '#runtime/resources/model.ts'

import type { JsonSchema } from './described.ts'
import { OPERATION } from './operation-section.ts'
import { ENV_VAR, GROUP, JOB, STATIC } from './other-sections.ts'
import { RESOURCE } from './resource-section.ts'

/** Ships with the types of site code. */
export const DEFINITION_SCHEMA_FILE = join(
  resolve(import.meta.dirname, '../..'),
  'types/croft.schema.json',
)

/** Draft 7 is what editors know best: VS Code completes by `if` and `then` of it. */
const SCHEMA: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'croft.json',
  description: 'What a site consists of. A section that is left out is left alone.',
  type: 'object',
  properties: {
    $schema: {
      description: 'The schema of this file, for editors. The service ignores it.',
      type: 'string',
    },
    envVars: section('Environment variables of the functions.', ENV_VAR, MAX_ENV_VARS),
    groups: section('Groups of visitors. Members are not part of a definition.', GROUP, MAX_GROUPS),
    resources: section('Tables, buckets and functions.', RESOURCE, MAX_RESOURCES),
    operations: section('What visitors call below "/data".', OPERATION, MAX_OPERATIONS),
    jobs: section('Calls of operations by a schedule or by hand.', JOB, MAX_JOBS),
    static: STATIC,
  },
  additionalProperties: false,
}

/** The text of the file. */
export const definitionSchemaText = (): string => `${JSON.stringify(SCHEMA, null, 2)}\n`

function section(description: string, items: JsonSchema, maxItems: number): JsonSchema {
  return { description, type: 'array', maxItems, items }
}
