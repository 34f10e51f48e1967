import type { BatchWriteRequest, TransactRequest } from '#runtime/tables/api/action-fields.ts'
import { TableEngine } from '#runtime/tables/engine.ts'
import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import {
  boundTexts,
  type Fields,
  fieldsOf,
  listOf,
  type RequestReading,
  tableNamed,
  type TablesByName,
  transactedTexts,
} from './batch-fields.ts'
import type { ItemCodec } from './codec.ts'
import type { ActionAnswer, ActionBody } from './engine.ts'
import { withFaultsIn } from './plain-faults.ts'
import { TransactGets } from './transact-get.ts'

export type BatchAction =
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'TransactGetItems'
  | 'TransactWriteItems'

const MAX_KEYS = 100
const MAX_WRITES = 25
const MAX_ACTIONS = 100
const KINDS = {
  ConditionCheck: 'conditionCheck',
  Put: 'put',
  Delete: 'delete',
  Update: 'update',
} as const
const NO_ITEMS =
  "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"

/** The tables' batches behind DynamoDB's requests, which name several tables. */
export class WireBatches {
  readonly #engine: TableEngine
  readonly #gets: TransactGets
  readonly #expressions = new Expressions()

  constructor(deps: ConstructorParameters<typeof TableEngine>[0]) {
    this.#engine = new TableEngine(deps)
    this.#gets = new TransactGets(deps)
  }

  async perform(
    tables: TablesByName,
    action: BatchAction,
    body: ActionBody,
    codec: ItemCodec,
  ): Promise<ActionAnswer> {
    const reading = { tables, codec, expressions: this.#expressions }
    return withFaultsIn(codec, () => this.#answer(action, body, reading))
  }

  async #answer(
    action: BatchAction,
    body: ActionBody,
    reading: RequestReading,
  ): Promise<ActionAnswer> {
    switch (action) {
      case 'BatchGetItem':
        return this.#batchGet(body, reading)
      case 'BatchWriteItem':
        await this.#engine.batchWrite(readWrites(body, reading))
        return { UnprocessedItems: {} }
      case 'TransactGetItems':
        return { Responses: await this.#gets.read(transactItems(body), reading) }
      case 'TransactWriteItems': {
        const requests = readActions(transactItems(body), reading)
        await this.#engine.transactWrite(requests, readToken(body['ClientRequestToken']))
        return {}
      }
    }
  }

  async #batchGet(body: ActionBody, reading: RequestReading): Promise<ActionAnswer> {
    const requests = Object.entries(fieldsOf(body['RequestItems']))
    if (requests.length === 0) throw validationError(NO_ITEMS)
    const sent = new Map<object, unknown>()
    const read = requests.map(([name, request]) => readKeys(name, request, { reading, sent }))
    if (read.reduce((sum, { keys }) => sum + keys.length, 0) > MAX_KEYS) {
      throw validationError('Too many items requested for the BatchGetItem call')
    }
    const found = await this.#engine.batchGet(read)
    const named = requests.map(([name], at) => [name, found[at]] as const)
    return {
      Responses: Object.fromEntries(
        named.map(([name, batch]) => [
          name,
          batch?.items.map((item) => reading.codec.fromPlain(item)),
        ]),
      ),
      UnprocessedKeys: Object.fromEntries(
        named.flatMap(([name, batch], at) => {
          const keys = batch?.unprocessedKeys ?? []
          const { Keys: _keys, ...rest } = fieldsOf(requests[at]?.[1])
          return keys.length === 0
            ? []
            : [[name, { Keys: keys.map((key) => sent.get(key)), ...rest }]]
        }),
      ),
    }
  }
}

interface KeysReading {
  readonly reading: RequestReading
  /** Gets each key as it was sent. */
  readonly sent: Map<object, unknown>
}

function readKeys(name: string, request: unknown, { reading, sent }: KeysReading) {
  const { Keys, ...rest } = fieldsOf(request)
  const keys = listOf(Keys)
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    const bound =
      keys.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MAX_KEYS}`
    throw validationError(
      `1 validation error detected: Value at 'requestItems.${name}.member.keys' failed to satisfy constraint: Member must have length ${bound}`,
    )
  }
  const texts = boundTexts(rest, ['ProjectionExpression'], reading)
  const plain = keys.map((key) => {
    const item = { ...reading.codec.plainItem(key) }
    sent.set(item, key)
    return item
  })
  return { ...texts, table: tableNamed(reading.tables, name), keys: plain }
}

function readWrites(body: ActionBody, reading: RequestReading): readonly BatchWriteRequest[] {
  const requests = Object.entries(fieldsOf(body['RequestItems']))
  const writes = requests.flatMap(([name, list]) => {
    const changes = listOf(list).map((each) => readWrite(each, reading.codec))
    if (changes.length === 0) {
      throw validationError(
        `1 validation error detected: Value '[]' at 'requestItems.${name}.member' failed to satisfy constraint: Member must have length greater than or equal to 1`,
      )
    }
    if (changes.length > MAX_WRITES) throw tooManyWrites()
    const table = tableNamed(reading.tables, name)
    return changes.map((change) => ({ table, ...change }))
  })
  if (writes.length > MAX_WRITES) throw tooManyWrites()
  return writes
}

function readWrite(input: unknown, codec: ItemCodec): { item: Fields } | { key: Fields } {
  const { PutRequest, DeleteRequest } = fieldsOf(input)
  if ((PutRequest === undefined) === (DeleteRequest === undefined)) {
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  if (PutRequest === undefined) return { key: codec.plainItem(fieldsOf(DeleteRequest)['Key']) }
  const given = fieldsOf(PutRequest)['Item']
  checkItemSize(codec.readItem(given))
  return { item: codec.plainItem(given) }
}

const tooManyWrites = () => validationError('Too many items requested for the BatchWriteItem call')

/** Reads the actions of a transaction: what the text alone shows to be wrong comes before a table that is missing. */
function readActions(
  inputs: readonly unknown[],
  reading: RequestReading,
): readonly TransactRequest[] {
  const read = inputs.map((input) => readAction(input, reading))
  return read.map(({ name, ...action }) => ({ ...action, table: tableNamed(reading.tables, name) }))
}

function readAction(input: unknown, reading: RequestReading) {
  const element = fieldsOf(input)
  const [kind, second] = (['ConditionCheck', 'Put', 'Delete', 'Update'] as const).filter(
    (name) => element[name] !== undefined,
  )
  if (kind === undefined || second !== undefined) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  const body = fieldsOf(element[kind])
  const given = reading.codec.readItem(kind === 'Put' ? body['Item'] : body['Key'])
  if (kind === 'Put') checkItemSize(given)
  const texts = transactedTexts(
    body,
    kind === 'Update' ? ['UpdateExpression', 'ConditionExpression'] : ['ConditionExpression'],
    reading,
  )
  const item = reading.codec.plainItem(kind === 'Put' ? body['Item'] : body['Key'])
  const returned = body['ReturnValuesOnConditionCheckFailure']
  const fields = {
    ...texts,
    ...(kind === 'Put' ? { item } : { key: item }),
    ...(returned !== undefined && { returnValuesOnConditionCheckFailure: returned }),
  }
  return { name: body['TableName'], kind: KINDS[kind], fields: fields as never }
}

function readToken(token: unknown): string | undefined {
  if (token === undefined || token === null) return undefined
  if (typeof token !== 'string') throw validationError('Unexpected token received from parser')
  return token
}

function transactItems(body: ActionBody): readonly unknown[] {
  const items = listOf(body['TransactItems'])
  if (items.length > 0 && items.length <= MAX_ACTIONS) return items
  const bound =
    items.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MAX_ACTIONS}`
  throw validationError(
    `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length ${bound}`,
  )
}
