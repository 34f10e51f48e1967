import { AppError, type FieldFault } from './app-error.ts'

type Check = () => unknown

/**
 * Runs every check, so that a form is told of all that is wrong with it at once. Rejects with the error of the one that failed,
 * with a `ValidationError` that has the details of all that did, or with the first error that is about no field.
 */
export async function allFaults(...checks: readonly Check[]): Promise<void> {
  const errors: AppError[] = []
  for (const check of checks) {
    try {
      await check()
    } catch (error) {
      if (!(error instanceof AppError) || error.details === undefined) throw error
      errors.push(error)
    }
  }
  const [first, second] = errors
  if (first === undefined) return
  if (second === undefined) throw first
  const details: FieldFault[] = errors.flatMap((error) => error.details ?? [])
  throw new AppError('ValidationError', first.message, { details })
}
