/** Whether an operating system call failed for one of these reasons. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  codes.includes(error.code)
