import type {
  BoundExpressions,
  ExpressionField,
  Expressions,
  ExpressionTexts,
} from '#runtime/tables/expressions/expressions.ts'

import type { ItemCodec } from './codec.ts'
import { type Body, record, text } from './parameters.ts'
import { readWireValue } from './wire-value.ts'

/** The expressions that a request may have, by DynamoDB's names. */
export type ExpressionParameter = Capitalize<ExpressionField>

const FIELDS: Readonly<Record<ExpressionParameter, ExpressionField>> = {
  ProjectionExpression: 'projectionExpression',
  FilterExpression: 'filterExpression',
  KeyConditionExpression: 'keyConditionExpression',
  UpdateExpression: 'updateExpression',
  ConditionExpression: 'conditionExpression',
}

/** The names that the tables have for the expressions. */
export const expressionFields = (parameters: readonly ExpressionParameter[]): ExpressionField[] =>
  parameters.map((parameter) => FIELDS[parameter])

/** Expressions that an action does not take are passed over like any other field that it does not know. */
export function expressionTexts(
  body: Body,
  parameters: readonly ExpressionParameter[],
): ExpressionTexts {
  const names = record(body, 'ExpressionAttributeNames')
  const takesValues = parameters.some((name) => name !== 'ProjectionExpression')
  const values = takesValues ? record(body, 'ExpressionAttributeValues') : undefined
  return {
    ...Object.fromEntries(
      parameters.flatMap((parameter) => {
        const given = text(body, parameter)
        return given === undefined ? [] : [[FIELDS[parameter], given]]
      }),
    ),
    ...(names && {
      expressionAttributeNames: Object.fromEntries(
        Object.entries(names).map(([key, name]) => [key, String(name)]),
      ),
    }),
    ...(values && { expressionAttributeValues: values }),
  }
}

/** The same texts with their values as the tables take them. */
export const plainTexts = (
  { expressionAttributeValues: values, ...texts }: ExpressionTexts,
  codec: ItemCodec,
): ExpressionTexts => ({
  ...texts,
  ...(values && {
    expressionAttributeValues: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, codec.plainValue(value)]),
    ),
  }),
})

/** Reads the expressions of a request whose values are in DynamoDB's own form. */
export const bindWire = (
  expressions: Expressions,
  body: Body,
  parameters: readonly ExpressionParameter[],
): BoundExpressions =>
  expressions.bind(expressionTexts(body, parameters), expressionFields(parameters), (input) =>
    readWireValue(input),
  )
