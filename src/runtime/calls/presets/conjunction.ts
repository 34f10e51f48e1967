import { isDeepStrictEqual } from 'node:util'

import { LRUCache } from 'lru-cache'

import { ExpressionError } from '#runtime/tables/expressions/expression-error.ts'
import { parseCondition } from '#runtime/tables/expressions/parse-condition.ts'
import type { ConditionNode } from '#runtime/tables/expressions/syntax.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

/** How an expression is named in DynamoDB's messages. */
export type ConditionParameter =
  | 'KeyConditionExpression'
  | 'FilterExpression'
  | 'ConditionExpression'

const KEPT_CHARACTERS = 256 * 1024

const known = new LRUCache<string, string>({
  maxSize: KEPT_CHARACTERS,
  sizeCalculation: (text, key) => text.length + key.length,
})

/**
 * `mine AND theirs`, proven: theirs is a whole condition of its own, and what is built of both is parsed again and must
 * be the conjunction of the two. Whatever theirs says, it can only narrow.
 */
export function conjunction(
  parameter: ConditionParameter,
  mine: string,
  theirs: string | undefined,
): string {
  if (theirs === undefined) return mine
  const key = `${parameter}\n${mine}\n${theirs}`
  const before = known.get(key)
  if (before !== undefined) return before
  const text = joined(parameter, mine, theirs)
  known.set(key, text)
  return text
}

function joined(parameter: ConditionParameter, mine: string, theirs: string): string {
  const wanted = {
    kind: 'and',
    conditions: [parsed(parameter, mine), parsed(parameter, theirs)],
  }
  // DynamoDB refuses parentheses around parentheses: one of the two is right.
  for (const text of [`${mine} AND (${theirs})`, `${mine} AND ${theirs}`]) {
    if (isDeepStrictEqual(attempt(text), wanted)) return text
  }
  throw validationError(`Invalid ${parameter}: it leaves no place for what this operation adds`)
}

function attempt(text: string): ConditionNode | undefined {
  try {
    return parseCondition(text)
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

function parsed(parameter: ConditionParameter, text: string): ConditionNode {
  try {
    return parseCondition(text)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw validationError(`Invalid ${parameter}: ${error.message}`)
  }
}
