import { LRUCache } from 'lru-cache'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { readPlainValue } from '#runtime/tables/items/plain-value.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { bindCondition } from './bind-condition.ts'
import { bindUpdate, type Update } from './bind-update.ts'
import { ExpressionError } from './expression-error.ts'
import { parseCondition } from './parse-condition.ts'
import { parseProjection } from './parse-projection.ts'
import { parseUpdate } from './parse-update.ts'
import { bindProjection, type Projection } from './project.ts'
import { type AttributeNames, checkNames, readValues, Substitutions } from './substitutions.ts'
import type { Condition } from './syntax.ts'

/** The expressions that an action may take. */
export type ExpressionField =
  | 'projectionExpression'
  | 'filterExpression'
  | 'keyConditionExpression'
  | 'updateExpression'
  | 'conditionExpression'

export type ExpressionTexts = { readonly [Field in ExpressionField]?: string } & {
  readonly expressionAttributeNames?: AttributeNames
  readonly expressionAttributeValues?: Readonly<Record<string, unknown>>
}

export interface BoundExpressions {
  readonly update?: Update | undefined
  readonly condition?: Condition | undefined
  readonly keyCondition?: Condition | undefined
  readonly filter?: Condition | undefined
  readonly projection?: Projection | undefined
}

const NOTHING: BoundExpressions = {}

/** Characters of expression text whose parsed forms are kept. */
const KEPT_CHARACTERS = 256 * 1024

/** Reads the expressions of requests. What a text means without names and values is parsed once and kept. */
export class Expressions {
  readonly #condition = parsedOnce(parseCondition, bindCondition)
  readonly #update = parsedOnce(parseUpdate, bindUpdate)
  readonly #projection = parsedOnce(parseProjection, bindProjection)

  /**
   * Checks all expressions of a request together; a name or value that none of them uses is refused. `fields` are the
   * expressions that the action takes, in the order in which DynamoDB lists them; `readValue` reads one of the values.
   */
  bind(
    texts: ExpressionTexts,
    fields: readonly ExpressionField[],
    readValue: (input: unknown) => AttributeValue = readPlainValue,
  ): BoundExpressions {
    const { expressionAttributeNames: names, expressionAttributeValues: values } = texts
    if (names === undefined && values === undefined && !hasAny(texts, fields)) return NOTHING
    checkPresence(texts, fields)
    checkNames(names)
    const substitutions = new Substitutions(names, readValues(values, readValue))
    const bound = this.#bindAll(texts, substitutions)
    substitutions.checkAllUsed()
    return bound
  }

  #bindAll(texts: ExpressionTexts, substitutions: Substitutions): BoundExpressions {
    const bound = <Bound>(field: ExpressionField, bind: BindText<Bound>) =>
      within(field, texts, (text) => bind(text, substitutions))
    return {
      update: bound('updateExpression', this.#update),
      condition: bound('conditionExpression', this.#condition),
      keyCondition: bound('keyConditionExpression', this.#condition),
      filter: bound('filterExpression', this.#condition),
      projection: bound('projectionExpression', this.#projection),
    }
  }
}

/** Refuses names and values where there is no expression that could use them. */
export function checkPresence(texts: ExpressionTexts, fields: readonly ExpressionField[]): void {
  if (texts.expressionAttributeNames !== undefined && !hasAny(texts, fields)) {
    throw validationError('ExpressionAttributeNames can only be specified when using expressions')
  }
  if (texts.expressionAttributeValues === undefined) return
  const withValues = fields.filter((field) => field !== 'projectionExpression')
  if (withValues.length === 0 || hasAny(texts, withValues)) return
  throw validationError(
    'ExpressionAttributeValues can only be specified when using expressions: ' +
      `${withValues.map(parameterName).join(' and ')} ${withValues.length > 1 ? 'are' : 'is'} null`,
  )
}

export const hasAny = (texts: ExpressionTexts, fields: readonly ExpressionField[]): boolean =>
  fields.some((field) => texts[field] !== undefined)

/** Parses an expression; what is wrong with it is said with DynamoDB's name of the parameter. */
export function parseNamed<Node>(
  field: ExpressionField,
  text: string,
  parse: (text: string) => Node,
): Node {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw validationError(`Invalid ${parameterName(field)}: ${error.message}`)
  }
}

export const parameterName = (field: ExpressionField): string =>
  field.charAt(0).toUpperCase() + field.slice(1)

/** DynamoDB tells how long these are when they are too long, and not of the others. */
const TELLS_SIZE: ReadonlySet<ExpressionField> = new Set([
  'conditionExpression',
  'filterExpression',
])
const SIZE = / expression size: \d+$/

function within<Result>(
  field: ExpressionField,
  texts: ExpressionTexts,
  read: (text: string) => Result,
): Result | undefined {
  const text = texts[field]
  if (text === undefined) return undefined
  const sizeIsTold = TELLS_SIZE.has(field)
  return parseNamed(field, text, (given) => {
    try {
      return read(given)
    } catch (error) {
      if (sizeIsTold || !(error instanceof ExpressionError)) throw error
      throw new ExpressionError(error.message.replace(SIZE, ''))
    }
  })
}

type BindText<Bound> = (text: string, substitutions: Substitutions) => Bound

function parsedOnce<Node extends object, Bound>(
  parse: (text: string) => Node,
  bind: (node: Node, substitutions: Substitutions) => Bound,
): BindText<Bound> {
  const nodes = new LRUCache<string, Node>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: (_node, text) => text.length,
    memoMethod: parse,
  })
  return (text, substitutions) => bind(nodes.memo(text), substitutions)
}
