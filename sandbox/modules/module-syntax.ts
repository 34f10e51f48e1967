import { init, parse } from 'es-module-lexer'

import type { ModuleSource } from '#sandbox/protocol/protocol.ts'

/** `require('…')` with a literal, where the name is no property. */
const REQUIRE = /(?<![\w$.])require\s*\(\s*(['"])((?:\\.|(?!\1)[^\\\n])*)\1\s*\)/g
const COMMONJS = /(?<![\w$.])(?:module\.exports|exports\.[\w$]+|exports\[|require\s*\()/

/** Resolves when the lexer is ready: await it before anything else here is called. */
export const syntaxReady: Promise<void> = init()

/** Tells the format by extension, then by what the code says: `import` and `export` make it a module, `require` and `exports` do not. */
export function formatOf(path: string, code: string): ModuleSource['format'] {
  if (path.endsWith('.json')) return 'json'
  if (/\.m[jt]s$/.test(path)) return 'esm'
  if (/\.c[jt]s$/.test(path)) return 'commonjs'
  if (hasModuleSyntax(code)) return 'esm'
  return COMMONJS.test(withoutComments(code)) ? 'commonjs' : 'esm'
}

export interface ModuleImport {
  readonly specifier: string
  /** Its place in the code. */
  readonly offset: number
  /** `with { type: '…' }` */
  readonly type?: string
}

/** What a module imports by a literal, in order. Code that cannot be read imports nothing: its syntax is checked later. */
export function importsOf(format: ModuleSource['format'], code: string): ModuleImport[] {
  if (format === 'json') return []
  if (format === 'commonjs') {
    return [...withoutComments(code).matchAll(REQUIRE)].map(([text, , specifier = '']) => ({
      specifier,
      offset: Math.max(0, code.indexOf(text)),
    }))
  }
  return (lex(code)?.[0] ?? []).flatMap((found) => {
    if (found.type !== 'static' && found.type !== 'reexport-star') return []
    const { specifier, start: offset, attributes } = found
    const type = attributes?.find(([name]) => name === 'type')?.[1]
    return [{ specifier, offset, ...(type === undefined ? {} : { type }) }]
  })
}

/** The places of `import.meta` in an ES module. */
export const metaOffsets = (code: string): { readonly start: number; readonly end: number }[] =>
  (lex(code)?.[0] ?? []).flatMap(({ type, start, end }) =>
    type === 'import-meta' ? [{ start, end }] : [],
  )

/** The names that an ES module says it exports, and where; without those of `export *`. */
export function exportsOf(code: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const found of lex(code)?.[1] ?? []) {
    if (found.type !== 'reexport-all') names.set(found.name, found.start)
  }
  return names
}

/** Whether `import` or `export` make it an ES module. */
export function hasModuleSyntax(code: string): boolean {
  const found = lex(code)
  if (!found) return /^\s*(?:import|export)\b/m.test(code)
  const [imports, exports] = found
  return exports.length > 0 || imports.some((one) => one.type !== 'dynamic')
}

function lex(code: string): ReturnType<typeof parse> | undefined {
  try {
    return parse(code)
  } catch {
    return undefined
  }
}

/** Near enough to find calls by name. In linear time, whatever the code is. */
function withoutComments(code: string): string {
  let kept = ''
  let at = 0
  while (at < code.length) {
    const start = nextComment(code, at)
    if (start < 0) return kept + code.slice(at)
    const block = code.charAt(start + 1) === '*'
    const end = code.indexOf(block ? '*/' : '\n', start + 2)
    kept += code.slice(at, start)
    if (end < 0) return kept
    at = block ? end + 2 : end
  }
  return kept
}

/** Index of the next `/*` or `//` that does not follow a colon, as in a URL; -1 when there is none. */
function nextComment(code: string, from: number): number {
  for (let at = code.indexOf('/', from); at >= 0; at = code.indexOf('/', at + 1)) {
    const next = code.charAt(at + 1)
    if (next === '*' || (next === '/' && code.charAt(at - 1) !== ':')) return at
  }
  return -1
}
