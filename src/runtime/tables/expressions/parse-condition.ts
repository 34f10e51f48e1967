import { OPERAND_FUNCTIONS, type Operator, ruleOf } from './operators.ts'
import { OperandParser } from './parse-operand.ts'
import { parsePathAfter } from './parse-path.ts'
import { StaticErrors } from './static-errors.ts'
import type { ConditionNode, OperandNode } from './syntax.ts'
import { TokenReader } from './token-reader.ts'

const KEYWORDS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN'])
const COMPARATORS = ['=', '<>', '<', '<=', '>', '>='] as const satisfies readonly Operator[]
const REDUNDANT = 'The expression has redundant parentheses;'
/** More than any expression that is not refused has in a row. */
const MAX_NEGATIONS = 310

/** What is in parentheses is known for a condition or an operand only by what follows it. */
interface Term {
  readonly node: ConditionNode<string> | OperandNode<string>
  readonly bracketed: boolean
}

/** Parses a condition, filter or key condition, as far as it can be judged without its names and values. */
export function parseCondition(text: string): ConditionNode<string> {
  return new ConditionParser(text).parse()
}

class ConditionParser {
  readonly #reader: TokenReader
  readonly #faults = new StaticErrors()
  readonly #operands: OperandParser

  constructor(text: string) {
    this.#reader = new TokenReader(text, KEYWORDS)
    this.#operands = new OperandParser(this.#reader, this.#faults, 'condition')
  }

  parse(): ConditionNode<string> {
    const condition = this.#asCondition(this.#disjunction())
    this.#reader.expectKind('end')
    this.#faults.throwFirstOfCondition()
    return condition
  }

  #disjunction(): Term {
    return this.#chain('or', () => this.#chain('and', () => this.#negation()))
  }

  #chain(kind: 'and' | 'or', parseOne: () => Term): Term {
    const first = parseOne()
    if (!this.#reader.is(kind.toUpperCase())) return first
    const conditions = [this.#asCondition(first)]
    while (this.#reader.take(kind.toUpperCase())) {
      this.#faults.countOperator()
      conditions.push(this.#asCondition(parseOne()))
    }
    return { node: { kind, conditions }, bracketed: false }
  }

  #negation(): Term {
    let count = 0
    while (this.#reader.take('NOT')) {
      this.#faults.countOperator()
      count += 1
    }
    if (count === 0) return this.#predicate()
    let node = this.#asCondition(this.#predicate())
    // The count is bounded where the operators are; no tree is built that would be refused anyway.
    for (; count > 0 && count <= MAX_NEGATIONS; count -= 1)
      node = { kind: 'not', conditions: [node] }
    return { node, bracketed: false }
  }

  #predicate(): Term {
    const term = this.#term()
    const left = term.node
    if (!isOperand(left)) return term
    const comparator = COMPARATORS.find((each) => this.#reader.take(each))
    if (comparator !== undefined) return this.#call(comparator, [left, this.#operand()])
    if (this.#reader.take('BETWEEN')) {
      const lower = this.#operand()
      this.#reader.expect('AND')
      return this.#call('BETWEEN', [left, lower, this.#operand()])
    }
    return this.#reader.take('IN') ? this.#call('IN', [left, ...this.#candidates()]) : term
  }

  #call(operator: Operator, operands: readonly OperandNode<string>[]): Term {
    return { node: this.#operands.call(operator, operands), bracketed: false }
  }

  #candidates(): OperandNode<string>[] {
    this.#reader.expect('(')
    const candidates = this.#operands.list(() => this.#operand())
    this.#reader.expect(')')
    return candidates
  }

  #term(): Term {
    if (this.#reader.is('(')) return this.#inParentheses()
    return { node: this.#operands.parse(() => this.#operand()), bracketed: false }
  }

  #inParentheses(): Term {
    const { node, bracketed } = this.#operands.nested(REDUNDANT, () => this.#disjunction())
    if (bracketed) this.#faults.add('parentheses', REDUNDANT)
    if (node.kind !== 'path' || !(this.#reader.is('.') || this.#reader.is('['))) {
      return { node, bracketed: true }
    }
    const path = parsePathAfter(this.#reader, this.#faults, node.path)
    return { node: { kind: 'path', path }, bracketed: false }
  }

  /** An operand where no condition is allowed. */
  #operand(): OperandNode<string> {
    const { node } = this.#term()
    if (isOperand(node)) return node
    throw this.#reader.syntaxError()
  }

  #asCondition({ node }: Term): ConditionNode<string> {
    if (node.kind === 'path' || node.kind === 'value') throw this.#reader.syntaxError()
    if (node.kind === 'call' && node.operator === OPERAND_FUNCTIONS.condition) {
      this.#faults.addMisuse(node.operator)
    }
    return node
  }
}

/** Functions are read as operands, whether they turn out to be conditions or not. */
const isOperand = (node: Term['node']): node is OperandNode<string> =>
  node.kind === 'path' ||
  node.kind === 'value' ||
  (node.kind === 'call' && ruleOf(node.operator).scope !== undefined)
