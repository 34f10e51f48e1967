import { isJsonObject } from '#base/json-object.ts'
import { BucketConfig } from '#runtime/buckets/bucket-config.ts'
import { parseShape } from '#runtime/shape.ts'
import { parseTableConfig, tableConfigJson } from '#runtime/tables/table-config-json.ts'
import { type TableConfig, checkKeysUnchanged } from '#runtime/tables/table-config.ts'

import { FunctionConfigInput, checkFunction } from './function-config.ts'
import type { Resource, ResourceType, TypedConfig } from './model.ts'

/** A table of which nothing else is said. */
const DEFAULT_TABLE_CONFIG: TableConfig = { partitionKey: { name: 'id', type: 'S' } }

/** Parses what a caller sent as `config` of a new resource. A table without one is keyed by a text `id`. */
export function parseConfig(type: ResourceType, config: unknown): TypedConfig {
  const sent = config ?? {}
  switch (type) {
    case 'ddbTable':
      return { type, config: config === undefined ? DEFAULT_TABLE_CONFIG : parseTableConfig(sent) }
    case 's3Bucket':
      return { type, config: parseShape(BucketConfig, sent, 'config') }
    case 'lambdaFunction':
      return { type, config: checkFunction(parseShape(FunctionConfigInput, sent, 'config')) }
  }
}

/** A patch leaves alone what it does not name; `null` takes an optional field away. */
export function patchConfig(current: Resource, patch: unknown): TypedConfig {
  const merged = mergeFields(current.config, patch)
  if (merged === undefined) return parseConfig(current.type, patch)
  const next = parseConfig(current.type, merged)
  if (current.type === 'ddbTable' && next.type === 'ddbTable') {
    checkKeysUnchanged(current.config, next.config)
  }
  return next
}

/** Reads a config back from its column, which only `parseConfig` writes. */
export const storedConfig = (type: ResourceType, config: unknown): TypedConfig =>
  ({ type, config }) as TypedConfig

/** A config as it is answered and exported. */
export const shownConfig = ({ type, config }: TypedConfig): object =>
  type === 'ddbTable' ? tableConfigJson(config) : config

function mergeFields(current: object, patch: unknown): Record<string, unknown> | undefined {
  if (!isJsonObject(patch)) return undefined
  const fields = new Map<string, unknown>(Object.entries(current))
  // New code takes the place of the artifact, and the other way round.
  if ('code' in patch) fields.delete('artifact')
  if ('artifact' in patch) fields.delete('code')
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name)
    else fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
