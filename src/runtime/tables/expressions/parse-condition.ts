import { ExpressionError } from './expression-error.ts'
import { isPredicateName, isUpdateFunctionName, SIZE } from './functions.ts'
import { parsePath, parsePathAfter } from './parse-path.ts'
import { StaticErrors } from './static-errors.ts'
import {
  type CallNode,
  type Comparator,
  COMPARATORS,
  type ConditionNode,
  type OperandNode,
} from './syntax.ts'
import { TokenReader } from './token-reader.ts'

const KEYWORDS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN'])
/** No expression with at most 300 operators nests deeper unless its parentheses are redundant. */
const MAX_NESTING = 310

/** What stands in parentheses is known for a condition or an operand only by what follows it. */
type Term =
  | { readonly condition: ConditionNode; readonly bracketed: boolean }
  | { readonly operand: OperandNode; readonly bracketed: boolean }

/** Parses a condition, filter or key condition, as far as it can be judged without its names and values. */
export function parseCondition(text: string): ConditionNode {
  return new ConditionParser(text).parse()
}

class ConditionParser {
  readonly #reader: TokenReader
  readonly #faults = new StaticErrors()
  #depth = 0

  constructor(text: string) {
    this.#reader = new TokenReader(text, KEYWORDS)
  }

  parse(): ConditionNode {
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
    return { condition: { kind, conditions }, bracketed: false }
  }

  #negation(): Term {
    let count = 0
    while (this.#reader.take('NOT')) {
      this.#faults.countOperator()
      count += 1
    }
    if (count === 0) return this.#predicate()
    let condition = this.#asCondition(this.#predicate())
    // The count is bounded where the operators are; no tree is built that would be refused anyway.
    for (; count > 0 && count <= MAX_NESTING; count -= 1) condition = { kind: 'not', condition }
    return { condition, bracketed: false }
  }

  #predicate(): Term {
    const term = this.#term()
    if ('condition' in term) return term
    const left = term.operand
    const operator = COMPARATORS.find((each) => this.#reader.is(each))
    if (operator !== undefined) return this.#comparison(left, operator)
    if (this.#reader.take('BETWEEN')) return this.#between(left)
    return this.#reader.take('IN') ? this.#membership(left) : term
  }

  #comparison(left: OperandNode, operator: Comparator): Term {
    this.#reader.next()
    const right = this.#operand()
    return this.#built({ kind: 'comparison', operator, operands: [left, right] }, [left, right])
  }

  #between(operand: OperandNode): Term {
    const lower = this.#operand()
    this.#reader.expect('AND')
    const operands = [operand, lower, this.#operand()] as const
    return this.#built({ kind: 'between', operands }, operands)
  }

  #membership(operand: OperandNode): Term {
    this.#reader.expect('(')
    const operands = [operand, ...this.#list()]
    return this.#built({ kind: 'in', operands }, operands)
  }

  #built(condition: ConditionNode, operands: readonly OperandNode[]): Term {
    this.#faults.countOperator()
    this.#checkArguments(operands)
    return { condition, bracketed: false }
  }

  #term(): Term {
    if (this.#reader.is('(')) return this.#inParentheses()
    return { operand: this.#plainOperand(), bracketed: false }
  }

  #inParentheses(): Term {
    this.#reader.expect('(')
    this.#enter(REDUNDANT)
    const inner = this.#disjunction()
    this.#reader.expect(')')
    this.#depth -= 1
    if (inner.bracketed) this.#faults.add('parentheses', REDUNDANT)
    if ('condition' in inner) return { condition: inner.condition, bracketed: true }
    const { operand } = inner
    if (operand.kind !== 'path' || !(this.#reader.is('.') || this.#reader.is('['))) {
      return { operand, bracketed: true }
    }
    return { operand: parsePathAfter(this.#reader, this.#faults, operand.parts), bracketed: false }
  }

  /** An operand where no condition may stand. */
  #operand(): OperandNode {
    const term = this.#term()
    if ('operand' in term) return term.operand
    throw this.#reader.syntaxError()
  }

  #plainOperand(): OperandNode {
    const { current, following } = this.#reader
    if (current.kind === 'value') return { kind: 'value', name: this.#reader.next().text }
    const isCall = current.kind === 'identifier' && following.text === '('
    return isCall ? this.#call() : parsePath(this.#reader, this.#faults)
  }

  #call(): CallNode {
    const name = this.#reader.next().text
    this.#reader.expect('(')
    this.#enter('The expression contains too many operators; operator count: 301')
    const args = this.#list()
    this.#depth -= 1
    this.#faults.countOperator()
    this.#checkName(name)
    this.#checkArguments(args)
    return { kind: 'call', name, args }
  }

  #list(): OperandNode[] {
    const operands = [this.#operand()]
    while (this.#reader.take(',')) operands.push(this.#operand())
    this.#reader.expect(')')
    return operands
  }

  #asCondition(term: Term): ConditionNode {
    if ('condition' in term) return term.condition
    if (term.operand.kind !== 'call') throw this.#reader.syntaxError()
    if (term.operand.name === SIZE) this.#faults.add('misuse', misused(SIZE))
    return term.operand
  }

  #checkName(name: string): void {
    if (isPredicateName(name) || name === SIZE) return
    const message = isUpdateFunctionName(name)
      ? `The function is not allowed in a condition expression; function: ${name}`
      : `Invalid function name; function: ${name}`
    this.#faults.add('function', message)
  }

  /** Only `size` gives a value that something else can take. */
  #checkArguments(operands: readonly OperandNode[]): void {
    const call = operands.find((each) => each.kind === 'call' && each.name !== SIZE)
    if (call?.kind === 'call') this.#faults.add('misuse', misused(call.name))
  }

  #enter(message: string): void {
    this.#depth += 1
    if (this.#depth > MAX_NESTING) throw new ExpressionError(message)
  }
}

const REDUNDANT = 'The expression has redundant parentheses;'

const misused = (name: string): string =>
  `The function is not allowed to be used this way in an expression; function: ${name}`
