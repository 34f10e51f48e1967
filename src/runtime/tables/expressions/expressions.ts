import { LRUCache } from 'lru-cache'

import { invalidRequest } from '#runtime/tables/fault.ts'
import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'

import { bindCondition, type BoundCondition } from './bind-condition.ts'
import { bindUpdate } from './bind-update.ts'
import { ExpressionFault } from './expression-fault.ts'
import { parseCondition } from './parse-condition.ts'
import { parseProjection } from './parse-projection.ts'
import { parseUpdate } from './parse-update.ts'
import { bindProjection, type Projection } from './project.ts'
import { type AttributeNames, checkNames, readValues, Substitutions } from './substitutions.ts'
import type { ActionNode, ConditionNode, PathNode } from './syntax.ts'
import type { Update } from './update.ts'

/** The expressions that an action takes, in the order in which DynamoDB lists them. */
export type ExpressionParameter =
  | 'ProjectionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'UpdateExpression'
  | 'ConditionExpression'

export type ExpressionTexts = Readonly<Partial<Record<ExpressionParameter, string>>> & {
  readonly ExpressionAttributeNames?: AttributeNames
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
}

export interface Reading {
  /** Those that the action takes. */
  readonly parameters: readonly ExpressionParameter[]
  /** Reads one of the values: from the wire shape, or from plain JSON. */
  readonly readValue: (input: unknown) => AttributeValue
}

export interface BoundExpressions {
  readonly update?: Update
  readonly condition?: BoundCondition
  readonly keyCondition?: BoundCondition
  readonly filter?: BoundCondition
  readonly projection?: Projection
}

/** Of a request that has no expressions. */
export const NO_TEXTS: ExpressionTexts = {}
const NOTHING: BoundExpressions = {}

/** Characters of expression text whose parsed forms are kept. */
const KEPT_CHARACTERS = 256 * 1024

/** Reads the expressions of requests. What a text means without names and values is parsed once and kept. */
export class Expressions {
  readonly #conditions = cacheOf<ConditionNode>()
  readonly #updates = cacheOf<readonly ActionNode[]>()
  readonly #projections = cacheOf<readonly PathNode[]>()

  /** Checks all expressions of a request together; a name or value that none of them uses is refused. */
  bind(texts: ExpressionTexts, reading: Reading): BoundExpressions {
    if (texts === NO_TEXTS) return NOTHING
    checkPresence(texts, reading.parameters)
    checkNames(texts.ExpressionAttributeNames)
    const values = readValues(texts.ExpressionAttributeValues, reading.readValue)
    const substitutions = new Substitutions(texts.ExpressionAttributeNames, values)
    const bound = this.#bindAll(texts, substitutions)
    substitutions.checkAllUsed()
    return bound
  }

  #bindAll(texts: ExpressionTexts, substitutions: Substitutions): BoundExpressions {
    const update = within('UpdateExpression', texts, (text) =>
      bindUpdate(parsed(this.#updates, text, parseUpdate), substitutions),
    )
    const condition = this.#condition('ConditionExpression', texts, substitutions)
    const keyCondition = this.#condition('KeyConditionExpression', texts, substitutions)
    const filter = this.#condition('FilterExpression', texts, substitutions)
    const projection = within('ProjectionExpression', texts, (text) =>
      bindProjection(parsed(this.#projections, text, parseProjection), substitutions),
    )
    return {
      ...(update && { update }),
      ...(condition && { condition }),
      ...(keyCondition && { keyCondition }),
      ...(filter && { filter }),
      ...(projection && { projection }),
    }
  }

  #condition(
    parameter: ExpressionParameter,
    texts: ExpressionTexts,
    substitutions: Substitutions,
  ): BoundCondition | undefined {
    return within(parameter, texts, (text) =>
      bindCondition(parsed(this.#conditions, text, parseCondition), substitutions),
    )
  }
}

/** Names and values are of no use without an expression that could use them. */
export function checkPresence(
  texts: ExpressionTexts,
  parameters: readonly ExpressionParameter[],
): void {
  if (texts === NO_TEXTS) return
  const given = parameters.filter((parameter) => texts[parameter] !== undefined)
  if (texts.ExpressionAttributeNames !== undefined && given.length === 0) {
    throw invalidRequest('ExpressionAttributeNames can only be specified when using expressions')
  }
  const withValues = parameters.filter((parameter) => parameter !== 'ProjectionExpression')
  if (texts.ExpressionAttributeValues === undefined || withValues.length === 0) return
  if (withValues.some((parameter) => texts[parameter] !== undefined)) return
  throw invalidRequest(
    'ExpressionAttributeValues can only be specified when using expressions: ' +
      `${withValues.join(' and ')} ${withValues.length > 1 ? 'are' : 'is'} null`,
  )
}

/** DynamoDB tells how long these are when they are too long, and not of the others. */
const TELLS_SIZE: ReadonlySet<ExpressionParameter> = new Set([
  'ConditionExpression',
  'FilterExpression',
])
const SIZE = / expression size: \d+$/

function within<Result>(
  parameter: ExpressionParameter,
  texts: ExpressionTexts,
  read: (text: string) => Result,
): Result | undefined {
  const text = texts[parameter]
  if (text === undefined) return undefined
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    const message = TELLS_SIZE.has(parameter) ? error.message : error.message.replace(SIZE, '')
    throw invalidRequest(`Invalid ${parameter}: ${message}`)
  }
}

const cacheOf = <Node extends object>(): LRUCache<string, Node> =>
  new LRUCache({ maxSize: KEPT_CHARACTERS, sizeCalculation: (_node, text) => text.length })

function parsed<Node extends object>(
  cache: LRUCache<string, Node>,
  text: string,
  parse: (text: string) => Node,
): Node {
  const known = cache.get(text)
  if (known !== undefined) return known
  const node = parse(text)
  cache.set(text, node)
  return node
}
