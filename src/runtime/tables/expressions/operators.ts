import type { AttributeType } from '#runtime/tables/items/attribute-value.ts'

/** The two kinds of expressions that have operators. */
export type OperatorScope = 'condition' | 'update'

interface OperatorRule {
  /** Where it can be called, and with how many operands; only functions are called. */
  readonly scope?: OperatorScope
  readonly operands?: number
  /** The types that its operands may have, when not any. */
  readonly types?: readonly AttributeType[]
  /** The type of what it gives, whatever its operands. */
  readonly result?: AttributeType
}

const ORDERED: OperatorRule = { types: ['S', 'N', 'B'] }
const ARITHMETIC: OperatorRule = { types: ['N'], result: 'N' }

const RULES = {
  '=': {},
  '<>': {},
  '<': ORDERED,
  '<=': ORDERED,
  '>': ORDERED,
  '>=': ORDERED,
  BETWEEN: ORDERED,
  IN: {},
  attribute_exists: { scope: 'condition', operands: 1 },
  attribute_not_exists: { scope: 'condition', operands: 1 },
  attribute_type: { scope: 'condition', operands: 2 },
  begins_with: { scope: 'condition', operands: 2, types: ['S', 'B'] },
  contains: { scope: 'condition', operands: 2 },
  size: {
    scope: 'condition',
    operands: 1,
    types: ['S', 'B', 'SS', 'NS', 'BS', 'L', 'M'],
    result: 'N',
  },
  '+': ARITHMETIC,
  '-': ARITHMETIC,
  if_not_exists: { scope: 'update', operands: 2 },
  list_append: { scope: 'update', operands: 2, types: ['L'], result: 'L' },
} as const satisfies Readonly<Record<string, OperatorRule>>

/** Everything that takes operands, by the name that DynamoDB's messages have for it. */
export type Operator = keyof typeof RULES

export const ruleOf = (operator: Operator): OperatorRule => RULES[operator]

/** The functions that may be operands themselves. */
export const OPERAND_FUNCTIONS = {
  condition: 'size',
  update: 'if_not_exists',
} as const satisfies Record<OperatorScope, Operator>

export const isFunctionName = (name: string): name is Operator =>
  isOperator(name) && ruleOf(name).scope !== undefined

const isOperator = (name: string): name is Operator => Object.hasOwn(RULES, name)
