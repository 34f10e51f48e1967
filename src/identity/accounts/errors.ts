import { AppError } from '#base/app-error.ts'

/** One wording for every reason: wrong, used, expired, tried too often, of nobody. */
export const wrongCode = (): AppError =>
  new AppError('InvalidVerificationCode', 'The code is wrong, or no longer good: ask for a new one')

export const wrongCredentials = (): AppError =>
  new AppError('InvalidCredentials', 'The email address or the password is wrong')

export const wrongOldPassword = (): AppError =>
  new AppError('InvalidCredentials', 'The current password is wrong')

export const signUpDisabled = (): AppError =>
  new AppError('SignUpDisabled', 'Accounts are made by invitation only on this site')

export const linkExpired = (): AppError =>
  new AppError('LinkExpired', 'The link has been used, or is too old: ask for a new one')
