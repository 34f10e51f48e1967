/** The command was called wrongly: exit code 2, and its usage is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command could not do its work: exit code 1. Its message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
