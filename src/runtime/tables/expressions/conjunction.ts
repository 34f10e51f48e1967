import { isDeepStrictEqual } from 'node:util'

import { LRUCache } from 'lru-cache'

import { validationError } from '#runtime/tables/validation-error.ts'

import { ExpressionError } from './expression-error.ts'
import { type ExpressionField, parameterName, parseNamed } from './expressions.ts'
import { parseCondition } from './parse-condition.ts'
import type { ConditionNode } from './syntax.ts'

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
  field: ExpressionField,
  mine: string,
  theirs: string | undefined,
): string {
  if (theirs === undefined) return mine
  const key = `${field}\n${mine}\n${theirs}`
  const before = known.get(key)
  if (before !== undefined) return before
  const text = joined(field, mine, theirs)
  known.set(key, text)
  return text
}

function joined(field: ExpressionField, mine: string, theirs: string): string {
  const wanted = {
    kind: 'and',
    conditions: [mine, theirs].map((text) => parseNamed(field, text, parseCondition)),
  }
  // DynamoDB refuses parentheses around parentheses: one of the two is right.
  for (const text of [`${mine} AND (${theirs})`, `${mine} AND ${theirs}`]) {
    if (isDeepStrictEqual(attempt(text), wanted)) return text
  }
  throw validationError(
    `Invalid ${parameterName(field)}: it leaves no place for what this operation adds`,
  )
}

function attempt(text: string): ConditionNode<string> | undefined {
  try {
    return parseCondition(text)
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}
