import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Assertions that pass unless everything is wrong at once: "not all of these", where "none of these" is meant. `expect.not` with one
 * element, or one field, says what it means, and so does `not.toContain`.
 */
const VACUOUS: readonly RegExp[] = [
  /\bexpect\s*\.not\s*\.(?:arrayContaining|objectContaining)\b/g,
  /\.not\s*\.\w+\(\s*expect\s*\.(?:arrayContaining|objectContaining)\b/g,
  /\.not\s*\.toMatchObject\(\s*\{[^{}]*:[^{}]*,\s*[\w'"[]/g,
]

/** Lines of a test that hold such an assertion. */
export function vacuousAssertions(text: string): number[] {
  const offsets = VACUOUS.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ index }) => index),
  )
  return offsets
    .toSorted((one, other) => one - other)
    .map((at) => text.slice(0, at).split('\n').length)
}

/** Those of all tests under `root`, as `path:line`. */
export async function vacuousAssertionsUnder(root: string): Promise<string[]> {
  const paths = await Array.fromAsync(
    glob('{src,sandbox,scripts,bench,conformance,test,packages}/**/*.ts', { cwd: root }),
  )
  const tests = paths.filter((path) => path.endsWith('.test.ts') || path.startsWith('test/'))
  const found = await Promise.all(
    tests.toSorted().map(async (path) => {
      const lines = vacuousAssertions(await readFile(join(root, path), 'utf8'))
      return lines.map((line) => `${path}:${line}`)
    }),
  )
  return found.flat()
}
