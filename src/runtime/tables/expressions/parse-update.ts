import { OperandParser } from './parse-operand.ts'
import { parsePath } from './parse-path.ts'
import { StaticErrors } from './static-errors.ts'
import { type ActionNode, type OperandNode, UPDATE_SECTIONS } from './syntax.ts'
import { TokenReader } from './token-reader.ts'

const KEYWORDS: ReadonlySet<string> = new Set(UPDATE_SECTIONS)
const ARITHMETIC = ['+', '-'] as const

type Action = ActionNode<string>
type Section = Action['section']

/** Parses an update, as far as it can be judged without its names and values. */
export function parseUpdate(text: string): readonly Action[] {
  return new UpdateParser(text).parse()
}

class UpdateParser {
  readonly #reader: TokenReader
  readonly #faults = new StaticErrors()
  readonly #operands: OperandParser
  readonly #sections = new Set<Section>()

  constructor(text: string) {
    this.#reader = new TokenReader(text, KEYWORDS)
    this.#operands = new OperandParser(this.#reader, this.#faults, 'update')
  }

  parse(): readonly Action[] {
    const actions: Action[] = []
    do actions.push(...this.#section())
    while (this.#reader.current.kind !== 'end')
    this.#faults.throwFirstOfUpdate()
    return actions
  }

  #section(): Action[] {
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

  #action(section: Section): Action {
    const path = parsePath(this.#reader, this.#faults)
    if (section === 'REMOVE') return { section, path }
    if (section === 'SET') {
      this.#reader.expect('=')
      return { section, path, value: this.#bracketedValue() }
    }
    const { text } = this.#reader.expectKind('value')
    return { section, path, value: { kind: 'value', value: text } }
  }

  /** `:a + :b`, the whole of which, and each operand of which, may be in parentheses. */
  #bracketedValue(): OperandNode<string> {
    if (!this.#reader.take('(')) return this.#value(this.#operand())
    const operand = this.#operand()
    const inner = this.#value(operand)
    this.#reader.expect(')')
    return inner === operand ? this.#value(inner) : inner
  }

  #value(left: OperandNode<string>): OperandNode<string> {
    const operator = ARITHMETIC.find((each) => this.#reader.take(each))
    return operator === undefined ? left : this.#operands.call(operator, [left, this.#operand()])
  }

  #operand(): OperandNode<string> {
    if (!this.#reader.take('(')) return this.#plainOperand()
    const operand = this.#plainOperand()
    this.#reader.expect(')')
    return operand
  }

  #plainOperand(): OperandNode<string> {
    return this.#operands.parse(() => this.#operand())
  }
}
