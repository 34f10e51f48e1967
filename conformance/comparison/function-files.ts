import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', 'functions')
export const SCRIPT = /\.[jt]s$/

export interface FunctionFiles {
  /** Paths in the folder, in their order, such as `url/parts.js`: the default export of each is called. */
  readonly names: readonly string[]
  /** The text of each of them, and of the data beside them, by path. */
  readonly texts: ReadonlyMap<string, string>
}

/** What one run of a function file gives: all of it is compared, byte for byte. */
export interface Observed {
  /** What was returned, as JSON, or what was thrown. */
  readonly outcome: string
  /** What `console` wrote to each stream of a process. */
  readonly stdout: string
  readonly stderr: string
}

/** The function files with `match` in their path, and all data. */
export async function readFunctionFiles(match = ''): Promise<FunctionFiles> {
  const found = await Array.fromAsync(glob('*/*.*', { cwd: FOLDER }))
  const paths = found
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !SCRIPT.test(path) || path.includes(match))
    .toSorted()
  const texts = await Promise.all(paths.map((path) => readFile(join(FOLDER, path), 'utf8')))
  return {
    names: paths.filter((path) => SCRIPT.test(path)),
    texts: new Map(paths.map((path, at) => [path, texts[at] ?? ''])),
  }
}

/** The module through which both runtimes call a function. */
export const CALL_MODULE = `const { stringify } = JSON
export async function outcomeOf(handler) {
  try {
    return stringify({ returned: await handler({ payload: null }) })
  } catch (error) {
    return stringify({ thrown: error.name + ': ' + error.message })
  }
}
`
