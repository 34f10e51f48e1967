import { AppError } from '#base/app-error.ts'

/** One wording for every reason, so that an answer says nothing about why. The reason is in `cause`. */
export const unauthorized = (reason: string): AppError =>
  new AppError(
    'Unauthorized',
    'This route needs a valid token of this site as "Authorization: Bearer …"',
    { cause: new Error(`Token refused: ${reason}`) },
  )

/** Only for a token that is right in everything else. */
export const tokenExpired = (): AppError =>
  new AppError('TokenExpired', 'The token has expired: sign in again or refresh it')
