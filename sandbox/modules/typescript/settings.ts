import { parseJsonWithComments } from './json-with-comments.ts'

/** Deno's own file first, as Deno does it. */
const NAMES = ['deno.json', 'deno.jsonc', 'tsconfig.json']
const MAX_LENGTH = 64 * 1024
/** How far `extends` is followed. */
const MAX_BASES = 8

/** What a project says of how its TypeScript and JSX are meant, of all that can be said there. */
export interface TypeScriptSettings {
  /** Classic, and not Deno's or TypeScript's own choice where nothing is said: both choose it. */
  readonly jsx: 'automatic' | 'classic'
  readonly jsxDev: boolean
  /** Where the automatic runtime is imported from; relative to the artifact's root when it begins with "./". */
  readonly jsxImportSource: string | undefined
  readonly jsxFactory: string | undefined
  readonly jsxFragmentFactory: string | undefined
  /** Decorators as TypeScript had them before the language did. */
  readonly experimentalDecorators: boolean
  readonly verbatimModuleSyntax: boolean
}

type Options = Readonly<Record<string, unknown>>

interface Found {
  readonly path: string
  readonly options: Options
}

/** Reads what holds for a file: the nearest deno.json, deno.jsonc or tsconfig.json above it. */
export function settingsFor(path: string, files: ReadonlyMap<string, string>): TypeScriptSettings {
  const found = foldersAbove(path)
    .flatMap((folder) => NAMES.map((name) => `${folder}${name}`))
    .find((candidate) => files.has(candidate))
  return settingsOf(found === undefined ? [] : configs(found, files))
}

/** The file and those that it extends, itself last. */
function configs(path: string, files: ReadonlyMap<string, string>): Found[] {
  const found: Found[] = []
  let next: string | undefined = path
  while (next !== undefined && found.length < MAX_BASES) {
    const config: unknown = parseJsonWithComments(files.get(next)?.slice(0, MAX_LENGTH) ?? '')
    if (!isObject(config)) break
    found.unshift({ path: next, options: optionsOf(config) })
    next = baseOf(next, config['extends'], files)
  }
  return found
}

function optionsOf(config: Options): Options {
  const options = config['compilerOptions']
  return isObject(options) ? options : {}
}

/** Bases of packages are not in an artifact. */
function baseOf(
  path: string,
  named: unknown,
  files: ReadonlyMap<string, string>,
): string | undefined {
  const base = typeof named === 'string' && named.startsWith('.') ? joined(path, named) : undefined
  if (base === undefined) return undefined
  return [base, `${base}.json`].find((candidate) => files.has(candidate))
}

function settingsOf(found: readonly Found[]): TypeScriptSettings {
  const options: Options = Object.assign({}, ...found.map((one) => one.options))
  const text = (name: string): string | undefined => {
    const value = options[name]
    return typeof value === 'string' ? value : undefined
  }
  const jsx = text('jsx')
  return {
    // Deno's "precompile" means the same, only faster; "preserve" leaves it to whatever runs the code, which is us.
    jsx:
      jsx === 'react-jsx' || jsx === 'react-jsxdev' || jsx === 'precompile'
        ? 'automatic'
        : 'classic',
    jsxDev: jsx === 'react-jsxdev',
    jsxImportSource: importSourceOf(found),
    jsxFactory: text('jsxFactory'),
    jsxFragmentFactory: text('jsxFragmentFactory'),
    experimentalDecorators: options['experimentalDecorators'] === true,
    verbatimModuleSyntax: options['verbatimModuleSyntax'] === true,
  }
}

/** A relative one is meant from the file that says it. */
function importSourceOf(found: readonly Found[]): string | undefined {
  const saying = found.findLast(({ options }) => typeof options['jsxImportSource'] === 'string')
  const source = saying?.options['jsxImportSource']
  if (saying === undefined || typeof source !== 'string') return undefined
  return source.startsWith('.') ? `./${joined(saying.path, source)}` : source
}

/** `a/b/c.ts` is below `a/b/`, `a/` and the root, which is ''. */
function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let at = path.lastIndexOf('/'); at >= 0; at = path.lastIndexOf('/', at - 1)) {
    folders.push(path.slice(0, at + 1))
    if (at === 0) break
  }
  return [...folders, '']
}

/** What a file calls `./x` or `../x`, from the artifact's root. */
function joined(path: string, relative: string): string {
  const parts = path.split('/').slice(0, -1)
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

const isObject = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
