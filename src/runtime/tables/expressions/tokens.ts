import { ExpressionError } from './expression-error.ts'

type TokenKind =
  | 'identifier'
  | 'keyword'
  | 'name'
  | 'value'
  | 'integer'
  | 'symbol'
  | 'unknown'
  | 'end'

export interface ExpressionToken {
  readonly kind: TokenKind
  readonly text: string
  readonly start: number
  readonly end: number
}

const SPACE = /[ \t\r\n]*/y
const LEXEME =
  /(?<identifier>[A-Za-z][A-Za-z0-9_]*)|(?<name>#[A-Za-z0-9_]+)|(?<value>:[A-Za-z0-9_]+)|(?<integer>[0-9]+)|(?<symbol><>|<=|>=|[=<>(),.[\]+-])|(?<unknown>[^])/y

/** Splits an expression. It never fails: what it does not know becomes a token that no rule takes. */
export function tokenize(text: string, keywords: ReadonlySet<string>): readonly ExpressionToken[] {
  const tokens: ExpressionToken[] = []
  let at = afterSpace(text, 0)
  while (at < text.length) {
    const token = tokenAt(text, at, keywords)
    tokens.push(token)
    at = afterSpace(text, token.end)
  }
  tokens.push({ kind: 'end', text: '<EOF>', start: text.length, end: text.length })
  return tokens
}

/** Names the token that no rule takes, with its neighbours as they were written. */
export function syntaxError(
  text: string,
  tokens: readonly ExpressionToken[],
  index: number,
): ExpressionError {
  const token = tokens[index]?.text ?? '<EOF>'
  const start = tokens[index - 1]?.start ?? 0
  const next = tokens[index + 1]
  const end = next === undefined || next.kind === 'end' ? text.length : next.end
  return new ExpressionError(`Syntax error; token: "${token}", near: "${text.slice(start, end)}"`)
}

function afterSpace(text: string, from: number): number {
  SPACE.lastIndex = from
  SPACE.exec(text)
  return SPACE.lastIndex
}

function tokenAt(text: string, start: number, keywords: ReadonlySet<string>): ExpressionToken {
  LEXEME.lastIndex = start
  const groups = LEXEME.exec(text)?.groups ?? {}
  const end = LEXEME.lastIndex
  const lexeme = text.slice(start, end)
  const kind = kindOf(groups)
  const word = kind === 'identifier' && keywords.has(lexeme.toUpperCase())
  return { kind: word ? 'keyword' : kind, text: lexeme, start, end }
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): TokenKind {
  for (const kind of ['identifier', 'name', 'value', 'integer', 'symbol'] as const) {
    if (groups[kind] !== undefined) return kind
  }
  return 'unknown'
}
