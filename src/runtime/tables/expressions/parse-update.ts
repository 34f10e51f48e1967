import { ExpressionError } from './expression-error.ts'
import { isPredicateName, isUpdateFunctionName, SIZE } from './functions.ts'
import { parsePath } from './parse-path.ts'
import { StaticErrors } from './static-errors.ts'
import {
  type ActionNode,
  type ArithmeticOperator,
  type CallNode,
  type OperandNode,
  type UpdateSection,
  UPDATE_SECTIONS,
  type UpdateValueNode,
} from './syntax.ts'
import { TokenReader } from './token-reader.ts'

const KEYWORDS: ReadonlySet<string> = new Set(UPDATE_SECTIONS)
const MAX_NESTING = 310

/** Parses an update, as far as it can be judged without its names and values. */
export function parseUpdate(text: string): readonly ActionNode[] {
  return new UpdateParser(text).parse()
}

class UpdateParser {
  readonly #reader: TokenReader
  readonly #faults = new StaticErrors()
  readonly #sections = new Set<UpdateSection>()
  #depth = 0

  constructor(text: string) {
    this.#reader = new TokenReader(text, KEYWORDS)
  }

  parse(): readonly ActionNode[] {
    const actions: ActionNode[] = []
    do actions.push(...this.#section())
    while (this.#reader.current.kind !== 'end')
    this.#faults.throwFirstOfUpdate()
    return actions
  }

  #section(): ActionNode[] {
    const section = UPDATE_SECTIONS.find((each) => this.#reader.take(each))
    if (section === undefined) throw this.#reader.syntaxError()
    if (this.#sections.has(section)) {
      this.#faults.add(
        'section',
        `The "${section}" section can only be used once in an update expression;`,
      )
    }
    this.#sections.add(section)
    const actions = [this.#action(section)]
    while (this.#reader.take(',')) actions.push(this.#action(section))
    return actions
  }

  #action(section: UpdateSection): ActionNode {
    const path = parsePath(this.#reader, this.#faults)
    if (section === 'REMOVE') return { section, path }
    if (section === 'SET') {
      this.#reader.expect('=')
      return { section, path, value: this.#bracketedValue() }
    }
    const { text } = this.#reader.expectKind('value')
    return { section, path, value: { kind: 'value', name: text } }
  }

  /** `:a + :b`, the whole of which, and each operand of which, may stand in parentheses. */
  #bracketedValue(): UpdateValueNode {
    if (!this.#reader.take('(')) return this.#value(this.#operand())
    const inner = this.#value(this.#operand())
    this.#reader.expect(')')
    return inner.kind === 'arithmetic' ? inner : this.#value(inner)
  }

  #value(left: OperandNode): UpdateValueNode {
    const operator: ArithmeticOperator | undefined = this.#reader.is('+')
      ? '+'
      : this.#reader.is('-')
        ? '-'
        : undefined
    if (operator === undefined) return left
    this.#reader.next()
    const operands = [left, this.#operand()] as const
    this.#faults.countOperator()
    this.#checkNested(operands)
    return { kind: 'arithmetic', operator, operands }
  }

  #operand(): OperandNode {
    if (!this.#reader.take('(')) return this.#plainOperand()
    const operand = this.#plainOperand()
    this.#reader.expect(')')
    return operand
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
    this.#enter()
    const args = [this.#operand()]
    while (this.#reader.take(',')) args.push(this.#operand())
    this.#reader.expect(')')
    this.#depth -= 1
    this.#faults.countOperator()
    this.#checkName(name)
    this.#checkNested(args)
    return { kind: 'call', name, args }
  }

  #checkName(name: string): void {
    if (isUpdateFunctionName(name)) return
    const known = isPredicateName(name) || name === SIZE
    const message = known
      ? `The function is not allowed in an update expression; function: ${name}`
      : `Invalid function name; function: ${name}`
    this.#faults.add('function', message)
  }

  /** What `list_append` gives can be set and nothing else. */
  #checkNested(operands: readonly OperandNode[]): void {
    if (!operands.some((each) => each.kind === 'call' && each.name === 'list_append')) return
    this.#faults.add(
      'misuse',
      'The function is not allowed to be used this way in an expression; function: list_append',
    )
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > MAX_NESTING) {
      throw new ExpressionError('The expression contains too many operators; operator count: 301')
    }
  }
}
