import { invalid } from '#base/app-error.ts'

import { type Fields, TRANSACT_FIELDS, WRITE_FIELDS } from './action-fields.ts'
import { isObject } from './field-rules.ts'
import { camelCase, pascalFields, readFields, type RequestFields } from './request-fields.ts'

type Body = Readonly<Record<string, unknown>>

/** BatchGetItem's body for keys of one table. */
export const batchGetBody = (name: string, { keys, ...rest }: RequestFields): Body => ({
  RequestItems: { [name]: { Keys: objects('keys', keys), ...pascalFields(rest) } },
})

/** BatchWriteItem's body for `puts` and `deletes`, or for DynamoDB's own list of `requests`. */
export function batchWriteBody(name: string, fields: RequestFields): Body {
  const { puts, deletes, requests } = fields
  if (requests !== undefined && (puts !== undefined || deletes !== undefined)) {
    throw invalid('requests', 'holds puts and deletes itself: send it alone, or the other two')
  }
  const writes =
    requests === undefined
      ? [
          ...objects('puts', puts).map((Item) => ({ PutRequest: { Item } })),
          ...objects('deletes', deletes).map((Key) => ({ DeleteRequest: { Key } })),
        ]
      : objects('requests', requests).map((each, at) =>
          oneKind(WRITE_FIELDS, each, `requests[${at}]`),
        )
  if (writes.length === 0) throw invalid('puts', 'send "puts", "deletes" or both, not empty')
  return { RequestItems: { [name]: writes } }
}

/** TransactWriteItems' body for `actions` on one table. */
export function transactWriteBody(name: string, { actions, ...rest }: RequestFields): Body {
  const items = objects('actions', actions).map((each, at) => {
    const action = oneKind(TRANSACT_FIELDS, each, `actions[${at}]`)
    return Object.fromEntries(
      Object.entries(action).map(([kind, fields]) => [kind, { TableName: name, ...fields }]),
    )
  })
  return { TransactItems: items, ...pascalFields(rest) }
}

function objects(field: string, list: unknown): readonly RequestFields[] {
  if (!Array.isArray(list)) return []
  return list.map((each: unknown, at) => {
    if (isObject(each)) return each
    throw invalid(`${field}[${at}]`, 'must be a JSON object')
  })
}

/** Reads `{ put: { … } }`: one object under one of the kinds. */
function oneKind(
  kinds: Readonly<Record<string, Fields>>,
  element: RequestFields,
  at: string,
): Readonly<Record<string, Body>> {
  const words = Object.keys(kinds)
    .map((kind) => `"${kind}"`)
    .join(', ')
  const [sent, second] = Object.keys(element)
  if (sent === undefined || second !== undefined) {
    throw invalid(at, `must have exactly one of ${words}`)
  }
  const kind = camelCase(sent)
  const fields = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (fields === undefined) throw invalid(at, `must have exactly one of ${words}`)
  const read = readFields(fields, element[sent], `${at}.${kind}`)
  return { [kind.charAt(0).toUpperCase() + kind.slice(1)]: pascalFields(read) }
}
