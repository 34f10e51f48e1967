import { invalid } from '#base/app-error.ts'
import { isJsonObject, type JsonObject } from '#base/json-object.ts'
import { mapFaults, parseShape } from '#runtime/shape.ts'

import { TableConfig, checkTable } from './table-config.ts'

const INDEXES = 'globalSecondaryIndexes'

/** Reads a config as it is sent: an index is named by `indexName`, or `name`, and its projection may be DynamoDB's own. */
export function parseTableConfig(sent: unknown): TableConfig {
  try {
    return checkTable(parseShape(TableConfig, withIndexes(sent), 'config'))
  } catch (error) {
    throw mapFaults(error, ({ field, message }) => ({
      field: field.replace(/^(config\.globalSecondaryIndexes\[\d+\])\.name$/, '$1.indexName'),
      message,
    }))
  }
}

/** The config as it is answered and exported. */
export function tableConfigJson(config: TableConfig): object {
  const { globalSecondaryIndexes: indexes, ...rest } = config
  if (indexes === undefined) return rest
  return {
    ...rest,
    [INDEXES]: indexes.map(({ name, ...index }) => ({ indexName: name, ...index })),
  }
}

function withIndexes(sent: unknown): unknown {
  if (!isJsonObject(sent)) return sent
  const indexes = sent[INDEXES]
  return Array.isArray(indexes) ? { ...sent, [INDEXES]: indexes.map(readIndex) } : sent
}

function readIndex(sent: unknown, at: number): unknown {
  if (!isJsonObject(sent)) return sent
  const { indexName, projection, ...index } = sent
  if (indexName !== undefined && index['name'] !== undefined) {
    throw invalid(`config.${INDEXES}[${at}].indexName`, 'is given twice, as "name" too: send one')
  }
  const read = readProjection(projection)
  return {
    ...index,
    ...(indexName !== undefined && { name: indexName }),
    ...(read !== undefined && { projection: read }),
  }
}

/** Undefined for all attributes, which an index shows by default. */
function readProjection(sent: unknown): unknown {
  if (!isJsonObject(sent)) {
    if (sent === 'ALL' || sent === undefined) return undefined
    return sent === 'KEYS_ONLY' ? { projectionType: sent } : sent
  }
  const read = camelCased(sent)
  const isAll = read['projectionType'] === 'ALL' && Object.keys(read).length === 1
  return isAll ? undefined : read
}

const camelCased = ({ ProjectionType, NonKeyAttributes, ...rest }: JsonObject): JsonObject => ({
  ...(ProjectionType !== undefined && { projectionType: ProjectionType }),
  ...(NonKeyAttributes !== undefined && { nonKeyAttributes: NonKeyAttributes }),
  ...rest,
})
