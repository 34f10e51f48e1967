import { invalid } from '#base/app-error.ts'
import { isJsonObject, type JsonObject } from '#base/json-object.ts'
import type { Table } from '#runtime/tables/table.ts'

import {
  type ACTION_FIELDS,
  type BatchWriteRequest,
  TRANSACT_FIELDS,
  type TransactRequest,
  WRITE_FIELDS,
} from './action-fields.ts'
import { camelCase, type FieldRules, type FieldsOf, readRequestFields } from './request-fields.ts'

/** The items or keys of a list. */
export const itemObjects = (field: string, list: readonly unknown[] = []): readonly JsonObject[] =>
  list.map((each, at) => {
    if (isJsonObject(each)) return each
    throw invalid(`${field}[${at}]`, 'must be a JSON object')
  })

/** The writes of `puts` and `deletes`, or of DynamoDB's own list of `requests`. */
export function batchWrites(
  table: Table,
  { puts, deletes, requests }: FieldsOf<(typeof ACTION_FIELDS)['batch-write']>,
): readonly BatchWriteRequest[] {
  if (requests !== undefined && (puts !== undefined || deletes !== undefined)) {
    throw invalid('requests', 'holds puts and deletes itself: send it alone, or the other two')
  }
  const writes: readonly BatchWriteRequest[] =
    requests === undefined
      ? [
          ...itemObjects('puts', puts).map((item) => ({ table, item })),
          ...itemObjects('deletes', deletes).map((key) => ({ table, key })),
        ]
      : itemObjects('requests', requests).map((each, at) => oneWrite(table, each, at))
  if (writes.length === 0) throw invalid('puts', 'send "puts", "deletes" or both, not empty')
  return writes
}

function oneWrite(table: Table, element: JsonObject, at: number): BatchWriteRequest {
  const { kind, input, path } = oneKind(WRITE_FIELDS, element, `requests[${at}]`)
  return kind === 'putRequest'
    ? { table, ...readRequestFields(WRITE_FIELDS.putRequest, input, path) }
    : { table, ...readRequestFields(WRITE_FIELDS.deleteRequest, input, path) }
}

/** The `actions` of a transaction on one table. */
export const transactActions = (
  table: Table,
  actions: readonly unknown[],
): readonly TransactRequest[] =>
  itemObjects('actions', actions).map((each, at) => {
    const { kind, input, path } = oneKind(TRANSACT_FIELDS, each, `actions[${at}]`)
    // Both are of one kind.
    return {
      table,
      kind,
      fields: readRequestFields(TRANSACT_FIELDS[kind], input, path),
    } as TransactRequest
  })

interface OneKind<Kind> {
  readonly kind: Kind
  readonly input: unknown
  readonly path: string
}

/** Takes `{ put: { … } }` apart: one object under one of the kinds. */
function oneKind<Kind extends string>(
  kinds: Readonly<Record<Kind, FieldRules>>,
  element: JsonObject,
  at: string,
): OneKind<Kind> {
  const names = Object.keys(kinds) as Kind[]
  const [sent, second] = Object.keys(element)
  const kind = names.find((name) => sent !== undefined && name === camelCase(sent))
  if (sent === undefined || second !== undefined || kind === undefined) {
    const quoted = names.map((name) => `"${name}"`).join(', ')
    throw invalid(at, `must have exactly one of ${quoted}`)
  }
  return { kind, input: element[sent], path: `${at}.${kind}` }
}
