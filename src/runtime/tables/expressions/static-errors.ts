import { ExpressionError } from './expression-error.ts'
import { isReserved } from './reserved-words.ts'

/** Kinds of fault that an expression shows without its names and values, first reported first. */
const CONDITION_ORDER = ['parentheses', 'function', 'misuse', 'reserved', 'bounds'] as const
const UPDATE_ORDER = ['reserved', 'function', 'misuse', 'section', 'bounds'] as const
type FaultKind = (typeof CONDITION_ORDER)[number] | (typeof UPDATE_ORDER)[number]

const MAX_OPERATORS = 300
const MAX_PATH_PARTS = 32
const MAX_LIST_INDEX = 2 ** 31 - 1

/** Gathers what is wrong while an expression is parsed, so that a syntax error comes before anything else. */
export class StaticErrors {
  readonly #found = new Map<FaultKind, string>()
  #operators = 0

  add(kind: FaultKind, message: string): void {
    if (!this.#found.has(kind)) this.#found.set(kind, message)
  }

  countOperator(): void {
    this.#operators += 1
    if (this.#operators > MAX_OPERATORS) {
      const count = MAX_OPERATORS + 1
      this.add('bounds', `The expression contains too many operators; operator count: ${count}`)
    }
  }

  addMisuse(name: string): void {
    const message = 'The function is not allowed to be used this way in an expression; function: '
    this.add('misuse', `${message}${name}`)
  }

  checkName(name: string): void {
    if (!isReserved(name)) return
    this.add('reserved', `Attribute name is a reserved keyword; reserved keyword: ${name}`)
  }

  checkIndex(digits: string): void {
    if (Number(digits) <= MAX_LIST_INDEX) return
    this.add('bounds', `List index is not within the allowable range; index: [${digits}]`)
  }

  checkPathLength(parts: number): void {
    if (parts <= MAX_PATH_PARTS) return
    this.add('bounds', `The document path has too many nesting levels; nesting levels: ${parts}`)
  }

  throwFirstOfCondition(): void {
    this.#throwFirst(CONDITION_ORDER)
  }

  throwFirstOfUpdate(): void {
    this.#throwFirst(UPDATE_ORDER)
  }

  #throwFirst(order: readonly FaultKind[]): void {
    for (const kind of order) {
      const message = this.#found.get(kind)
      if (message !== undefined) throw new ExpressionError(message)
    }
  }
}
