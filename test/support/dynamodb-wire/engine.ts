import { AppError } from '#base/app-error.ts'
import type { FoundPage } from '#runtime/tables/actions/page.ts'
import { segmentOf } from '#runtime/tables/actions/scan.ts'
import { TableEngine } from '#runtime/tables/engine.ts'
import { checkPresence, Expressions } from '#runtime/tables/expressions/expressions.ts'
import type { PlainItem } from '#runtime/tables/items/plain-json.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import type { Table } from '#runtime/tables/table.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { type ItemCodec, WIRE } from './codec.ts'
import {
  type ExpressionParameter,
  expressionFields,
  expressionTexts,
  plainTexts,
} from './expression-texts.ts'
import { DELETE_ITEM, GET_ITEM, PUT_ITEM, QUERY, SCAN, UPDATE_ITEM } from './parameter-rules.ts'
import {
  type Body,
  checkParameters,
  flag,
  integer,
  parameter,
  type ParameterRules,
  text,
} from './parameters.ts'
import { withFaultsIn } from './plain-faults.ts'

/** DynamoDB's request body without `TableName`; items, keys and values in the codec's form. */
export type ActionBody = Body

/** DynamoDB's answer body; items in the codec's form. */
export type ActionAnswer = Body

export type ItemAction = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query' | 'Scan'

interface ActionRules {
  readonly parameters: ParameterRules
  /** In the order in which DynamoDB lists them. */
  readonly expressions: readonly ExpressionParameter[]
}

const RULES: Readonly<Record<ItemAction, ActionRules>> = {
  GetItem: { parameters: GET_ITEM, expressions: ['ProjectionExpression'] },
  PutItem: { parameters: PUT_ITEM, expressions: ['ConditionExpression'] },
  UpdateItem: {
    parameters: UPDATE_ITEM,
    expressions: ['UpdateExpression', 'ConditionExpression'],
  },
  DeleteItem: { parameters: DELETE_ITEM, expressions: ['ConditionExpression'] },
  Query: {
    parameters: QUERY,
    expressions: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
  },
  Scan: { parameters: SCAN, expressions: ['ProjectionExpression', 'FilterExpression'] },
}
/** Faults of a start key that DynamoDB reports without saying of what. */
const BARE_FAULT =
  /contains duplicates|number set|numeric value|significant digits|number with magnitude/

/** The tables' engine behind DynamoDB's parameters: PascalCase, and all that its API refuses before a table is looked at. */
export class WireEngine {
  readonly #engine: TableEngine
  readonly #expressions = new Expressions()

  constructor(deps: ConstructorParameters<typeof TableEngine>[0]) {
    this.#engine = new TableEngine(deps)
  }

  async perform(
    table: Table,
    action: ItemAction,
    body: ActionBody,
    codec: ItemCodec,
  ): Promise<ActionAnswer> {
    const { parameters, expressions } = RULES[action]
    checkParameters(body, parameters)
    checkPresence(expressionTexts(body, expressions), expressionFields(expressions))
    if (codec === WIRE) this.#readInOrder(action, body, codec)
    else checkCombinations(action, body)
    const texts = plainTexts(expressionTexts(body, expressions), codec)
    return withFaultsIn(codec, () => this.#answer(table, action, { body, texts, codec }))
  }

  /** The tables read plain JSON: what is wrong with a value on the wire is said before, in its turn. */
  #readInOrder(action: ItemAction, body: ActionBody, codec: ItemCodec): void {
    const isPage = action === 'Query' || action === 'Scan'
    if (isPage) readStartKey(body, codec)
    else codec.readItem(parameter(body, action === 'PutItem' ? 'Item' : 'Key'))
    checkCombinations(action, body)
    if (action === 'PutItem') checkItemSize(codec.readItem(parameter(body, 'Item')))
    const { expressions } = RULES[action]
    this.#expressions.bind(
      expressionTexts(body, expressions),
      expressionFields(expressions),
      codec.readValue,
    )
  }

  async #answer(
    table: Table,
    action: ItemAction,
    { body, texts, codec }: { body: ActionBody; texts: object; codec: ItemCodec },
  ): Promise<ActionAnswer> {
    const engine = this.#engine
    const fields = { ...texts, ...fieldsOf(body, codec) } as never
    const shown = (name: string, item: PlainItem | undefined): ActionAnswer =>
      item === undefined ? {} : { [name]: codec.fromPlain(item) }
    switch (action) {
      case 'GetItem':
        return shown('Item', await engine.get(table, fields))
      case 'PutItem':
        return shown('Attributes', await engine.put(table, fields))
      case 'UpdateItem':
        return shown('Attributes', await engine.update(table, fields))
      case 'DeleteItem':
        return shown('Attributes', await engine.delete(table, fields))
      case 'Query':
        return pageAnswer(await engine.query(table, fields), body, codec)
      case 'Scan':
        return pageAnswer(await engine.scan(table, fields), body, codec)
    }
  }
}

const TEXTS = [
  'IndexName',
  'ReturnValues',
  'ReturnValuesOnConditionCheckFailure',
  'Select',
] as const
const ITEMS = ['Key', 'Item', 'ExclusiveStartKey'] as const

/** The parameters by the names that the tables have for them. Of the action's own: the others are of no matter. */
const fieldsOf = (body: ActionBody, codec: ItemCodec): object => {
  const given = [
    ...TEXTS.map((name) => [name, text(body, name)] as const),
    ...(['ConsistentRead', 'ScanIndexForward'] as const).map(
      (name) => [name, flag(body, name)] as const,
    ),
    ...(['Limit', 'Segment', 'TotalSegments'] as const).map(
      (name) => [name, integer(body, name)] as const,
    ),
    ...ITEMS.map((name) => {
      const item = parameter(body, name)
      return [name, item === undefined ? undefined : codec.plainItem(item)] as const
    }),
  ]
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
  )
}

/** What the product's API does not let through. */
function checkCombinations(action: ItemAction, body: ActionBody): void {
  if (action === 'PutItem' || action === 'DeleteItem') checkReturnValues(body)
  if (action === 'Query' && text(body, 'KeyConditionExpression') === undefined) {
    throw validationError(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    )
  }
  if (action === 'Scan') {
    const [segment, totalSegments] = [integer(body, 'Segment'), integer(body, 'TotalSegments')]
    segmentOf({
      ...(segment !== undefined && { segment }),
      ...(totalSegments !== undefined && { totalSegments }),
    })
  }
}

function checkReturnValues(body: ActionBody): void {
  const given = text(body, 'ReturnValues')
  if (given === undefined || given === 'ALL_OLD' || given === 'NONE') return
  throw validationError('ReturnValues can only be ALL_OLD or NONE')
}

function readStartKey(body: ActionBody, codec: ItemCodec): void {
  const given = parameter(body, 'ExclusiveStartKey')
  if (given === undefined) return
  try {
    codec.readItem(given)
  } catch (error) {
    if (!(error instanceof AppError) || BARE_FAULT.test(error.message)) throw error
    throw validationError(`The provided starting key is invalid: ${error.message}`)
  }
}

const pageAnswer = (
  { items, count, scannedCount, lastEvaluatedKey }: FoundPage,
  body: ActionBody,
  codec: ItemCodec,
): ActionAnswer => ({
  ...(text(body, 'Select') !== 'COUNT' && { Items: items.map((item) => codec.fromPlain(item)) }),
  Count: count,
  ScannedCount: scannedCount,
  ...(lastEvaluatedKey && { LastEvaluatedKey: codec.fromPlain(lastEvaluatedKey) }),
})
