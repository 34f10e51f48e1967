import { ExpressionError } from './expression-error.ts'
import {
  isFunctionName,
  OPERAND_FUNCTIONS,
  type Operator,
  type OperatorScope,
  ruleOf,
} from './operators.ts'
import { parsePath } from './parse-path.ts'
import type { StaticErrors } from './static-errors.ts'
import type { CallNode, OperandNode } from './syntax.ts'
import type { TokenReader } from './token-reader.ts'

/** No expression with at most 300 operators nests deeper unless its parentheses are redundant. */
const MAX_NESTING = 310
const TOO_MANY = 'The expression contains too many operators; operator count: 301'

/** Parses the operands of one expression. What is allowed in parentheses is for its grammar to say. */
export class OperandParser {
  readonly #reader: TokenReader
  readonly #faults: StaticErrors
  readonly #scope: OperatorScope
  #depth = 0

  constructor(reader: TokenReader, faults: StaticErrors, scope: OperatorScope) {
    this.#reader = reader
    this.#faults = faults
    this.#scope = scope
  }

  /** An operand without parentheses; `argument` parses the operands of a function. */
  parse(argument: () => OperandNode<string>): OperandNode<string> {
    const { current, following } = this.#reader
    if (current.kind === 'value') return { kind: 'value', value: this.#reader.next().text }
    if (current.kind !== 'identifier' || following.text !== '(') {
      return { kind: 'path', path: parsePath(this.#reader, this.#faults) }
    }
    const name = this.#reader.next().text
    const operands = this.nested(TOO_MANY, () => this.list(argument))
    return this.call(this.#functionNamed(name), operands)
  }

  /** Operands with commas between them. */
  list(parseOne: () => OperandNode<string>): OperandNode<string>[] {
    const operands = [parseOne()]
    while (this.#reader.take(',')) operands.push(parseOne())
    return operands
  }

  /** Parses an expression in parentheses; `fault` says what is wrong where it is too deep. */
  nested<Node>(fault: string, parse: () => Node): Node {
    this.#reader.expect('(')
    this.#depth += 1
    if (this.#depth > MAX_NESTING) throw new ExpressionError(fault)
    const node = parse()
    this.#reader.expect(')')
    this.#depth -= 1
    return node
  }

  /** Applies an operator; of functions only some give what another operator can take. */
  call(operator: Operator, operands: readonly OperandNode<string>[]): CallNode<string> {
    this.#faults.countOperator()
    for (const each of operands) {
      if (each.kind !== 'call' || each.operator === OPERAND_FUNCTIONS[this.#scope]) continue
      this.#faults.addMisuse(each.operator)
    }
    return { kind: 'call', operator, operands }
  }

  #functionNamed(name: string): Operator {
    if (isFunctionName(name) && ruleOf(name).scope === this.#scope) return name
    const place = this.#scope === 'update' ? 'an update' : 'a condition'
    this.#faults.add(
      'function',
      isFunctionName(name)
        ? `The function is not allowed in ${place} expression; function: ${name}`
        : `Invalid function name; function: ${name}`,
    )
    // The expression is refused, so the replacement of the function is never used.
    return OPERAND_FUNCTIONS[this.#scope]
  }
}
