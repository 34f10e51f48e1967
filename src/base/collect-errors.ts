import { AppError, type FieldFault } from './app-error.ts'

type Checks<Results extends readonly unknown[]> = {
  readonly [At in keyof Results]: () => Results[At] | Promise<Results[At]>
}

/**
 * Runs every check, so that a form shows all its errors at once, and gives the result of each. Rejects with the error of the one
 * that failed, with a `ValidationError` that has the details of all that did, or with the first error that is about no field.
 */
export async function collectErrors<Results extends readonly unknown[]>(
  ...checks: Checks<Results>
): Promise<Results> {
  const results: unknown[] = []
  const errors: AppError[] = []
  for (const check of checks) {
    try {
      results.push(await check())
    } catch (error) {
      if (!(error instanceof AppError) || error.details === undefined) throw error
      errors.push(error)
    }
  }
  const [first, second] = errors
  // As many as there are checks, each what its own gave.
  if (first === undefined) return results as unknown as Results
  if (second === undefined) throw first
  const details: FieldFault[] = errors.flatMap((error) => error.details ?? [])
  throw new AppError('ValidationError', first.message, { details })
}
