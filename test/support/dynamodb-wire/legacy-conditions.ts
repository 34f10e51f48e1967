import {
  ATTRIBUTE_TYPES,
  typeOf,
  type AttributeValue,
} from '#runtime/tables/items/attribute-value.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import type { Placeholders } from './placeholders.ts'
import { validationFault, type WireError } from './wire-error.ts'
import { readWireValue } from './wire-value.ts'

/** A condition of the days before expressions: an operator and its values, for one attribute. */
interface Condition {
  readonly ComparisonOperator: string
  readonly AttributeValueList?: readonly unknown[]
}

interface Expectation {
  readonly ComparisonOperator?: string
  readonly AttributeValueList?: readonly unknown[]
  readonly Value?: unknown
  readonly Exists?: boolean
}

export type Conditions = Readonly<Record<string, Condition>>
export type Expectations = Readonly<Record<string, Expectation>>

const INVALID = 'One or more parameter values were invalid: '
const SCALARS = ['S', 'N', 'B']

interface OperatorRule {
  readonly least: number
  readonly most: number
  readonly types: readonly string[]
}

const rule = (count: number, types: readonly string[]): OperatorRule => ({
  least: count,
  most: count,
  types,
})
const OPERATORS: Readonly<Record<string, OperatorRule>> = {
  NULL: rule(0, []),
  NOT_NULL: rule(0, []),
  EQ: rule(1, ATTRIBUTE_TYPES),
  NE: rule(1, ATTRIBUTE_TYPES),
  LE: rule(1, SCALARS),
  LT: rule(1, SCALARS),
  GE: rule(1, SCALARS),
  GT: rule(1, SCALARS),
  CONTAINS: rule(1, SCALARS),
  NOT_CONTAINS: rule(1, SCALARS),
  BEGINS_WITH: rule(1, ['S', 'B']),
  IN: { least: 1, most: Number.POSITIVE_INFINITY, types: SCALARS },
  BETWEEN: rule(2, SCALARS),
}

/** Refuses filters and key conditions whose values do not suit their operators. */
export function checkConditions(conditions: Conditions = {}): void {
  for (const { ComparisonOperator: operator, AttributeValueList: given = [] } of Object.values(
    conditions,
  )) {
    const values = given.map((each) => readWireValue(each))
    const { least, most } = ruleOf(operator)
    if (values.length < least || values.length > most) throw wrongCount(operator)
    checkValues(operator, values)
  }
}

function checkValues(operator: string, values: readonly AttributeValue[]): void {
  checkSameType(values)
  const { types } = ruleOf(operator)
  for (const value of values) {
    if (types.includes(typeOf(value))) continue
    throw invalid(
      `ComparisonOperator ${operator} is not valid for ${typeOf(value)} AttributeValue type`,
    )
  }
  if (operator === 'BETWEEN') checkBounds(values)
}

/** Refuses expectations that contradict themselves. */
export function checkExpectations(expectations: Expectations = {}): void {
  for (const [name, expectation] of Object.entries(expectations)) {
    const { ComparisonOperator: operator, AttributeValueList: list, Value: value } = expectation
    if (list !== undefined && value !== undefined) {
      throw invalid(`Value and AttributeValueList cannot be used together for Attribute: ${name}`)
    }
    if (operator !== undefined) checkCompared(name, operator, expectation)
    else if (list !== undefined) {
      throw invalid(
        `AttributeValueList can only be used with a ComparisonOperator for Attribute: ${name}`,
      )
    } else checkExistence(name, expectation)
  }
}

function checkCompared(name: string, operator: string, expectation: Expectation): void {
  const { AttributeValueList: list, Value: value, Exists: exists } = expectation
  if (exists !== undefined) {
    throw invalid(`Exists and ComparisonOperator cannot be used together for Attribute: ${name}`)
  }
  const { least, most } = ruleOf(operator)
  const given = list ?? (value === undefined ? [] : [value])
  if (least > 0 && list === undefined && value === undefined) {
    throw invalid(
      `Value or AttributeValueList must be used with ComparisonOperator: ${operator} for Attribute: ${name}`,
    )
  }
  if (given.length < least || given.length > most) throw wrongCount(operator)
  checkValues(
    operator,
    given.map((each) => readWireValue(each)),
  )
}

function checkExistence(name: string, { Exists: exists, Value: value }: Expectation): void {
  if (exists !== false && value === undefined) {
    throw invalid(
      `Value must be provided when Exists is ${exists ?? 'null'} for Attribute: ${name}`,
    )
  }
  if (exists === false && value !== undefined) {
    throw invalid(`Value cannot be used when Exists is false for Attribute: ${name}`)
  }
  if (value !== undefined) readWireValue(value)
}

/** The same as an expression; undefined when there is nothing to ask. */
export function conditionExpression(
  conditions: Conditions | Expectations,
  conditionalOperator: string | undefined,
  placeholders: Placeholders,
): string | undefined {
  const terms = Object.entries(conditions).map(([name, condition]) =>
    termOf(name, condition, placeholders),
  )
  return terms.length === 0
    ? undefined
    : terms.join(conditionalOperator === 'OR' ? ' OR ' : ' AND ')
}

function termOf(name: string, condition: Expectation, placeholders: Placeholders): string {
  const attribute = placeholders.name(name)
  const values =
    condition.AttributeValueList ?? (condition.Value === undefined ? [] : [condition.Value])
  const [first = '', ...others] = values.map((value) => placeholders.value(value))
  const operator = condition.ComparisonOperator ?? (condition.Exists === false ? 'NULL' : 'EQ')
  return termText(operator)(attribute, first, others)
}

type TermText = (attribute: string, first: string, others: readonly string[]) => string

const comparison =
  (comparator: string): TermText =>
  (attribute, first) =>
    `${attribute} ${comparator} ${first}`
const TERMS: Readonly<Record<string, TermText>> = {
  EQ: comparison('='),
  NE: comparison('<>'),
  LE: comparison('<='),
  LT: comparison('<'),
  GE: comparison('>='),
  GT: comparison('>'),
  NULL: (attribute) => `attribute_not_exists(${attribute})`,
  NOT_NULL: (attribute) => `attribute_exists(${attribute})`,
  CONTAINS: (attribute, first) => `contains(${attribute}, ${first})`,
  // What is missing neither contains a value nor does not.
  NOT_CONTAINS: (attribute, first) =>
    `(attribute_exists(${attribute}) AND NOT contains(${attribute}, ${first}))`,
  BEGINS_WITH: (attribute, first) => `begins_with(${attribute}, ${first})`,
  IN: (attribute, first, others) => `${attribute} IN (${[first, ...others].join(', ')})`,
  BETWEEN: (attribute, first, [second = first]) => `(${attribute} BETWEEN ${first} AND ${second})`,
}

function termText(operator: string): TermText {
  const found = TERMS[operator]
  if (found === undefined) throw new TypeError(`"${operator}" passed the check of its field`)
  return found
}

function ruleOf(operator: string): OperatorRule {
  const found = OPERATORS[operator]
  if (found === undefined) throw new TypeError(`"${operator}" passed the check of its field`)
  return found
}

function checkSameType(values: readonly AttributeValue[]): void {
  const types = new Set(values.map(typeOf))
  if (types.size <= 1) return
  throw invalid('AttributeValues inside AttributeValueList must be of same type')
}

function checkBounds([lower, upper]: readonly AttributeValue[]): void {
  if (lower === undefined || upper === undefined || (compareValues(lower, upper) ?? 0) <= 0) return
  throw validationFault(
    'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
  )
}

const wrongCount = (operator: string): WireError =>
  invalid(`Invalid number of argument(s) for the ${operator} ComparisonOperator`)

const invalid = (words: string): WireError => validationFault(INVALID + words)
