/** A fault that the operator can mend. Its message says what is wrong and what to do; it is printed without a stack. */
export class SetupError extends Error {
  override readonly name = 'SetupError'
}
