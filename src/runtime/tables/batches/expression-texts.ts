import type { ExpressionTexts } from '#runtime/tables/expressions/expressions.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'

const TEXTS = ['ProjectionExpression', 'UpdateExpression', 'ConditionExpression'] as const
type Fields = Readonly<Record<string, unknown>>

/** The expressions among the fields of a request, with their names and values. */
export function expressionsOf(fields: Fields): ExpressionTexts {
  const texts = TEXTS.flatMap((name): [string, string][] => {
    const text = fields[name]
    if (text === undefined) return []
    if (typeof text !== 'string') throw invalidRequest('Unexpected token received from parser')
    return [[name, text]]
  })
  const names = fields['ExpressionAttributeNames']
  const values = fields['ExpressionAttributeValues']
  return {
    ...Object.fromEntries(texts),
    ...(names !== undefined && { ExpressionAttributeNames: namesOf(names) }),
    ...(values !== undefined && { ExpressionAttributeValues: objectOf(values) }),
  }
}

/** Those of an action of a transaction, where names and values are of no matter without an expression. */
export function transactedExpressionsOf(fields: Fields): ExpressionTexts {
  const texts = expressionsOf(fields)
  return TEXTS.some((name) => texts[name] !== undefined) ? texts : {}
}

const namesOf = (input: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectOf(input)).map(([name, value]) => {
      if (typeof value === 'string') return [name, value]
      throw invalidRequest('Unexpected token received from parser')
    }),
  )

function objectOf(input: unknown): Fields {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  throw invalidRequest('Unexpected value type in payload')
}
