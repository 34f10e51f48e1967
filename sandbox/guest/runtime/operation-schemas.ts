import { type PreparedSchema, preparedSchema } from '#sandbox/guest/schema/prepared-schema.ts'
import type { CompiledSchema } from '#sandbox/protocol/compiled-schema.ts'

import { configured } from './config.ts'
import { SafeMap } from './safe-map.ts'

interface PreparedSchemas {
  readonly input: PreparedSchema | undefined
  readonly output: PreparedSchema | undefined
}

const prepared = new SafeMap<PreparedSchemas>()

/** What calls of the operation are checked against; undefined where it has no schemas. */
export function schemasOf(operation: string): PreparedSchemas | undefined {
  const { schemas } = configured()
  if (schemas === undefined) return undefined
  const known = prepared.get(operation)
  if (known) return known
  const given = schemas[operation]
  if (!given) return undefined
  const made = { input: ready(given.input), output: ready(given.output) }
  prepared.set(operation, made)
  return made
}

const ready = (schema: CompiledSchema | undefined): PreparedSchema | undefined =>
  schema && preparedSchema(schema)
