import { isDeepStrictEqual } from 'node:util'

/** How deep a difference is named: `config.memoryMb`, not what is inside of a list. */
const DEPTH = 3
const MAX_FIELDS = 50

type Fields = Readonly<Record<string, unknown>>

/** The names of the fields in which two items differ; of those that `after` has, when it is `partial`. */
export function changedFields(before: Fields, after: Fields, partial: boolean): string[] {
  const names = partial ? Object.keys(after) : [...Object.keys(before), ...Object.keys(after)]
  return [...new Set(names)]
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .flatMap((name) => changedPaths(name, [before[name], after[name]], DEPTH - 1))
    .slice(0, MAX_FIELDS)
}

function changedPaths(
  at: string,
  [before, after]: readonly [unknown, unknown],
  depth: number,
): string[] {
  if (depth === 0 || !isFields(before) || !isFields(after)) return [at]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .flatMap((name) => changedPaths(`${at}.${name}`, [before[name], after[name]], depth - 1))
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
