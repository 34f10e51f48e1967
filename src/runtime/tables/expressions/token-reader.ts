import { Buffer } from 'node:buffer'

import { ExpressionError } from './expression-error.ts'
import { syntaxError, type ExpressionToken, tokenize } from './tokens.ts'

const MAX_EXPRESSION_BYTES = 4096

/** Walks over the tokens of one expression. */
export class TokenReader {
  readonly #text: string
  readonly #tokens: readonly ExpressionToken[]
  #at = 0

  constructor(text: string, keywords: ReadonlySet<string>) {
    if (text === '') throw new ExpressionError('The expression can not be empty;')
    const bytes = Buffer.byteLength(text, 'utf8')
    if (bytes > MAX_EXPRESSION_BYTES) {
      throw new ExpressionError(
        `Expression size has exceeded the maximum allowed size; expression size: ${bytes}`,
      )
    }
    this.#text = text
    this.#tokens = tokenize(text, keywords)
  }

  /** The token that `next` would take. */
  get current(): ExpressionToken {
    return this.#peek(0)
  }

  get following(): ExpressionToken {
    return this.#peek(1)
  }

  next(): ExpressionToken {
    const token = this.current
    if (token.kind !== 'end') this.#at += 1
    return token
  }

  is(text: string): boolean {
    const { kind, text: actual } = this.current
    return kind === 'symbol' ? actual === text : kind === 'keyword' && actual.toUpperCase() === text
  }

  /** Takes the token if it is this symbol or keyword. */
  take(text: string): boolean {
    const found = this.is(text)
    if (found) this.#at += 1
    return found
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.syntaxError()
  }

  expectKind(kind: ExpressionToken['kind']): ExpressionToken {
    if (this.current.kind !== kind) throw this.syntaxError()
    return this.next()
  }

  /** Says that no rule takes the current token. */
  syntaxError(): ExpressionError {
    return syntaxError(this.#text, this.#tokens, this.#at)
  }

  #peek(ahead: number): ExpressionToken {
    const token = this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]
    if (token === undefined) throw this.syntaxError()
    return token
  }
}
