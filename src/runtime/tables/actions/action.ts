import { AppError } from '#base/app-error.ts'
import type { ItemCodec } from '#runtime/tables/codec.ts'
import {
  type BoundExpressions,
  checkPresence,
  type ExpressionParameter,
  type Expressions,
  type ExpressionTexts,
  NO_TEXTS,
} from '#runtime/tables/expressions/expressions.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { type ParameterRules, checkParameters, parameter, record, text } from './parameters.ts'

/** DynamoDB's request body without `TableName`; items, keys and values in the codec's form. */
export type ActionBody = Readonly<Record<string, unknown>>

/** DynamoDB's answer body; items in the codec's form. */
export type ActionAnswer = Readonly<Record<string, unknown>>

/** A request on a table, and what is needed to read it. */
export interface ActionRequest {
  readonly table: Table
  readonly body: ActionBody
  readonly codec: ItemCodec
  readonly expressions: Expressions
}

/** The first checks of every action: its parameters, and whether names and values have an expression to be for. */
export function checkRequest(
  { body }: ActionRequest,
  rules: ParameterRules,
  parameters: readonly ExpressionParameter[],
): void {
  checkParameters(body, rules)
  checkPresence(textsOf(body, parameters), parameters)
}

export const bindExpressions = (
  { body, codec, expressions }: ActionRequest,
  parameters: readonly ExpressionParameter[],
): BoundExpressions =>
  expressions.bind(textsOf(body, parameters), {
    parameters,
    readValue: (input) => codec.readValue(input),
  })

export const readItem = ({ body, codec }: ActionRequest, name: 'Key' | 'Item'): Item =>
  codec.readItem(parameter(body, name))

export const conditionFailed = (item: unknown): AppError =>
  new AppError(
    'ConditionalCheckFailed',
    'The conditional request failed',
    item === undefined ? {} : { fields: { item } },
  )

/** Expressions that the action does not take are passed over like any other field that it does not know. */
function textsOf(body: ActionBody, parameters: readonly ExpressionParameter[]): ExpressionTexts {
  const names = record(body, 'ExpressionAttributeNames')
  const takesValues = parameters.some((name) => name !== 'ProjectionExpression')
  const values = takesValues ? record(body, 'ExpressionAttributeValues') : undefined
  const any = parameters.some((name) => text(body, name) !== undefined)
  if (!any && names === undefined && values === undefined) return NO_TEXTS
  return {
    ...Object.fromEntries(
      parameters.flatMap((name) => {
        const given = text(body, name)
        return given === undefined ? [] : [[name, given]]
      }),
    ),
    ...(names && {
      ExpressionAttributeNames: Object.fromEntries(
        Object.entries(names).map(([key, name]) => [key, String(name)]),
      ),
    }),
    ...(values && { ExpressionAttributeValues: values }),
  }
}
