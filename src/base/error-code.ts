/** What the system, Postgres or a library calls a failure: `ENOENT`, `23505`. Undefined for what has no such name. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** Whether something failed for one of these reasons. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean => {
  const code = codeOf(error)
  return code !== undefined && codes.includes(code)
}

/** For `catch` on a file or folder: gives `instead` when there is none. */
export const ifMissing =
  <Instead>(instead: Instead) =>
  (error: unknown): Instead => {
    if (hasCode(error, 'ENOENT')) return instead
    throw error
  }
