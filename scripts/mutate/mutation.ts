import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A small fault in the product that a test must see. */
export interface Mutation {
  /** Its theme and what it takes away: `durability: no flush of a folder`. */
  readonly name: string
  readonly file: string
  /** Occurs once in the file. */
  readonly text: string
  readonly replacement: string
  /** What it would cost. */
  readonly why: string
  /** Test files of which one must fail, the cheapest that does. */
  readonly tests: readonly string[]
}

/** Makes the faults of a theme: what is taken away, where, what it would cost, and the tests that see it. */
export const faultsOf =
  (theme: string, usual: readonly string[] = []) =>
  (
    name: string,
    [file, text, replacement]: readonly [string, string, string],
    why: string,
    tests: readonly string[] = usual,
  ): Mutation => ({ name: `${theme}: ${name}`, file, text, replacement, why, tests })

/** What does not fit the sources any more, a line each. */
export function staleLines(root: string, mutations: readonly Mutation[]): string[] {
  const names = new Set<string>()
  return mutations.flatMap((mutation) => {
    const isTwin = names.has(mutation.name)
    names.add(mutation.name)
    const lines = isTwin ? ['has the name of another one'] : []
    return [...lines, ...staleParts(root, mutation)].map((line) => `"${mutation.name}" ${line}`)
  })
}

function staleParts(root: string, { file, text, replacement, tests }: Mutation): string[] {
  const missing = [file, ...tests].filter((path) => !existsSync(join(root, path)))
  if (missing.length > 0) return missing.map((path) => `names "${path}", which is not there`)
  const count = readFileSync(join(root, file), 'utf8').split(text).length - 1
  if (count !== 1) return [`replaces a text that occurs ${count} times in "${file}", not once`]
  return replacement === text ? ['changes nothing'] : []
}

/** The file as it is with the fault. */
export const mutated = (source: string, { text, replacement }: Mutation): string =>
  source.split(text).join(replacement)
