import { AppError } from '#base/app-error.ts'

/** What DynamoDB calls a ValidationException, in its own words. */
export const validationError = (message: string): AppError =>
  new AppError('ValidationError', message)
