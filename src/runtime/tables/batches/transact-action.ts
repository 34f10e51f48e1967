import { AppError } from '#base/app-error.ts'
import type { ItemCodec } from '#runtime/tables/codec.ts'
import { applyUpdate } from '#runtime/tables/expressions/apply-update.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { checkUpdatedIndexKeys, checkUpdateKeys } from '#runtime/tables/expressions/key-rules.ts'
import { matches } from '#runtime/tables/expressions/matches.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkEmptyKeys, checkItemKeys, checkKey } from '#runtime/tables/items/key-schema.ts'
import { checkItemSize, checkUpdatedSize, itemSize } from '#runtime/tables/items/size.ts'
import type { ItemPlace } from '#runtime/tables/store/batch-items.ts'

import { faultOf } from './cancellation.ts'
import { transactedExpressionsOf } from './expression-texts.ts'
import { fieldsOf, keyOf, type RequestReading, tableNamed } from './requests.ts'

const KINDS = ['ConditionCheck', 'Put', 'Delete', 'Update'] as const
type Kind = (typeof KINDS)[number]
type Fields = Readonly<Record<string, unknown>>

/** What an action does to the item: nothing, or another item, or none, in its place. */
export type Outcome = 'kept' | { readonly item: Item | undefined }

/** One action of a transaction, read and bound. */
export interface TransactAction {
  readonly place: ItemPlace
  /** Of what it brings: an item, a key, values. */
  readonly bytes: number
  /** What is wrong with its keys, which cancels the transaction. */
  readonly fault: AppError | undefined
  /** Throws `ConditionalCheckFailed`, or `ValidationError` for an update that this item does not allow. */
  decide(stored: Item | undefined): Outcome
}

/** An action whose table has not been looked for yet. */
type ReadAction = () => TransactAction

/** Reads an element of `TransactItems`; what the text alone shows to be wrong is thrown. */
export function readTransactAction(input: unknown, reading: RequestReading): ReadAction {
  const element = fieldsOf(input)
  const [kind, second] = KINDS.filter((name) => element[name] !== undefined)
  if (kind === undefined || second !== undefined) {
    throw invalidRequest('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  return READERS[kind](fieldsOf(element[kind]), reading)
}

const READERS: Readonly<Record<Kind, (body: Fields, reading: RequestReading) => ReadAction>> = {
  ConditionCheck: (body, reading) => onKey(body, reading, () => 'kept'),
  Delete: (body, reading) => onKey(body, reading, () => ({ item: undefined })),
  Put(body, reading) {
    const item = reading.codec.readItem(body['Item'])
    checkItemSize(item)
    const condition = bind(body, reading, ['ConditionExpression'])
    return () => {
      const table = tableNamed(reading.tables, body['TableName'])
      checkEmptyKeys(item, table.schema)
      return {
        place: { table, key: keyOf(item, table.schema) },
        bytes: itemSize(item),
        fault: faultOf(() => checkItemKeys(item, table.schema)),
        decide(stored) {
          checkCondition(body, condition, stored, reading.codec)
          return { item }
        },
      }
    }
  },
  Update(body, reading) {
    const key = reading.codec.readItem(body['Key'])
    const bound = bind(body, reading, ['UpdateExpression', 'ConditionExpression'])
    const update = bound.update ?? { actions: [], targets: [], paths: [] }
    return () => {
      const table = tableNamed(reading.tables, body['TableName'])
      checkEmptyKeys(key, table.schema)
      return {
        place: { table, key },
        bytes: itemSize(key) + valuesSize(body, reading.codec),
        fault: faultOf(() => {
          checkKey(key, table.schema)
          checkUpdateKeys(update, table.schema)
        }),
        decide(stored) {
          checkCondition(body, bound, stored, reading.codec)
          const item = applyUpdate(update, { stored, key, schema: table.schema })
          if (item === undefined) return { item }
          checkUpdatedIndexKeys(update, item, table.schema)
          checkUpdatedSize(item)
          return { item }
        },
      }
    }
  },
}

function onKey(body: Fields, reading: RequestReading, outcome: () => Outcome): ReadAction {
  const key = reading.codec.readItem(body['Key'])
  const condition = bind(body, reading, ['ConditionExpression'])
  return () => {
    const table = tableNamed(reading.tables, body['TableName'])
    checkEmptyKeys(key, table.schema)
    return {
      place: { table, key },
      bytes: itemSize(key),
      fault: faultOf(() => checkKey(key, table.schema)),
      decide(stored) {
        checkCondition(body, condition, stored, reading.codec)
        return outcome()
      },
    }
  }
}

const valuesSize = ({ ExpressionAttributeValues: values }: Fields, codec: ItemCodec): number =>
  values === undefined ? 0 : itemSize(codec.readItem(values))

const bind = (
  body: Fields,
  { expressions, codec }: RequestReading,
  parameters: readonly ('UpdateExpression' | 'ConditionExpression')[],
): BoundExpressions =>
  expressions.bind(transactedExpressionsOf(body), {
    parameters,
    readValue: (input) => codec.readValue(input),
  })

function checkCondition(
  body: Fields,
  { condition }: BoundExpressions,
  stored: Item | undefined,
  codec: ItemCodec,
): void {
  if (condition === undefined || matches(condition.condition, stored ?? {})) return
  const shown = body['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' && stored !== undefined
  throw new AppError('ConditionalCheckFailed', 'The conditional request failed', {
    ...(shown && { fields: { item: codec.writeItem(stored) } }),
  })
}
