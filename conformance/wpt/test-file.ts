import { posix } from 'node:path'

/** A file that runs all of its subtests unless a parameter names the part to run. */
const SPLIT_BY = '/common/subset-tests'
const META = /^\/\/\s*META:\s*(\w+)=(.*)$/
/** What a script for workers takes in itself; the harness is there already. */
const IMPORTED = /^\s*importScripts\(([^)]*)\)/gm
const QUOTED = /["']([^"']*)["']/g
const HARNESS = 'resources/testharness.js'
/** Where the tests expect what lies elsewhere in their folder. */
const ALIASES: Readonly<Record<string, string>> = {
  '/resources/WebIDLParser.js': '/resources/webidl2/lib/webidl2.js',
}

export interface TestFile {
  /** Below the folder of the tests: `url/historical.any.js`. */
  readonly path: string
  /** Paths below the folder of the tests, in the order in which they run before the file. */
  readonly scripts: readonly string[]
  /** Query strings that it is run with, one run each; at least one, which may be empty. */
  readonly variants: readonly string[]
}

/** What a test file says of itself in its `META` comments and `importScripts` calls. */
export function readTestFile(path: string, source: string): TestFile {
  const scripts = [...metaOf(source, 'script'), ...importedBy(source)]
  const variants = metaOf(source, 'variant')
  const isSplit = variants.length === 0 || scripts.some((script) => script.startsWith(SPLIT_BY))
  return {
    path,
    scripts: scripts.map((script) => scriptPath(path, script)).filter((it) => it !== HARNESS),
    variants: isSplit ? [''] : variants,
  }
}

const metaOf = (source: string, wanted: string): string[] =>
  source.split('\n').flatMap((line) => {
    const [, key, value = ''] = META.exec(line.trim()) ?? []
    return key === wanted ? [value.trim()] : []
  })

const importedBy = (source: string): string[] =>
  [...source.matchAll(IMPORTED)].flatMap(([, list = '']) =>
    [...list.matchAll(QUOTED)].flatMap(([, quoted]) => quoted ?? []),
  )

function scriptPath(from: string, script: string): string {
  const path = posix.resolve('/', posix.dirname(from), script.replace(/[?#].*$/, ''))
  return (ALIASES[path] ?? path).slice(1)
}
