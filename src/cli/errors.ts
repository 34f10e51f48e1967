import { codeOf } from '#base/error-code.ts'

/** The command was called wrongly: exit code 2, and its usage is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command could not do its work: exit code 1. Its message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Returns the error of a file that the caller named and that cannot be read. */
export const unreadableFile = (file: string, cause: unknown): CommandError =>
  new CommandError(`The file "${file}" cannot be read (${String(codeOf(cause))})`, { cause })

/** The service refused. `error` is the `error` of its answer. */
export class ServiceRefusal extends CommandError {
  readonly error: unknown

  constructor(message: string, error: unknown) {
    super(message)
    this.error = error
  }
}
