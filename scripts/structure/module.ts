import { posix } from 'node:path'

import { type StaticExport, Visitor, parseSync } from 'oxc-parser'

/** What the rules of the structure ask of one TypeScript file. Paths start at the project's root. */
export interface Module {
  readonly path: string
  /** Lines of the file, comments and blank ones too. */
  readonly lines: number
  /** Names that it exports, each once: a TypeBox value and the type of the same name are one. */
  readonly exports: readonly string[]
  /** Paths that it imports, types too; packages are left out. */
  readonly imports: readonly string[]
  /** Lines where SQL is written or a query is built. */
  readonly sqlLines: readonly number[]
  /** Names of its interfaces and type aliases, exported or not. */
  readonly types: readonly string[]
  /** Whether a script writes it. */
  readonly isGenerated: boolean
}

/** `imports` of package.json: from `#base/*` to `./src/base/*`. */
export type Aliases = Readonly<Record<string, string>>

const QUERY_BUILDERS = new Set([
  'selectFrom',
  'selectNoFrom',
  'insertInto',
  'updateTable',
  'deleteFrom',
  'mergeInto',
])

/** Parses one file. Throws on a syntax error. */
export function readModule(path: string, text: string, aliases: Aliases): Module {
  const { module, program, errors } = parseSync(path, text)
  const [error] = errors
  if (error) throw new Error(`${path}: ${error.message}`)
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ]
  const imports = requests.flatMap((request) => resolveImport(path, request, aliases) ?? [])
  return {
    path,
    lines: text.split('\n').length - 1,
    exports: [...new Set(module.staticExports.flatMap(exportedNames))],
    imports: [...new Set(imports)],
    sqlLines: sqlOffsets(program).map((offset) => text.slice(0, offset).split('\n').length),
    types: typeNames(program),
    isGenerated: text.startsWith('// Written by "npm run '),
  }
}

const exportedNames = ({ entries }: StaticExport): string[] =>
  entries.flatMap(({ moduleRequest, exportName }) =>
    moduleRequest === null && exportName.name !== null ? [exportName.name] : [],
  )

function resolveImport(from: string, request: string, aliases: Aliases): string | undefined {
  if (request.startsWith('.')) return posix.join(posix.dirname(from), request)
  for (const [alias, target] of Object.entries(aliases)) {
    const prefix = alias.replace(/\*$/, '')
    if (alias === request || (alias !== prefix && request.startsWith(prefix))) {
      return posix.normalize(target.replace('*', request.slice(prefix.length)))
    }
  }
  return undefined
}

/** Where a template is tagged with `sql`, or a method is called that begins a query. */
function sqlOffsets(program: Parameters<Visitor['visit']>[0]): number[] {
  const offsets: number[] = []
  new Visitor({
    TaggedTemplateExpression({ tag, start }) {
      if (tag.type === 'Identifier' && tag.name === 'sql') offsets.push(start)
    },
    CallExpression({ callee, start }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      if (QUERY_BUILDERS.has(callee.property.name)) offsets.push(start)
    },
  }).visit(program)
  return offsets
}

function typeNames(program: Parameters<Visitor['visit']>[0]): string[] {
  const names: string[] = []
  new Visitor({
    TSInterfaceDeclaration: ({ id }) => void names.push(id.name),
    TSTypeAliasDeclaration: ({ id }) => void names.push(id.name),
  }).visit(program)
  return names
}
