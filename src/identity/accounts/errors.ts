import { AppError } from '#base/app-error.ts'
import { say } from '#languages/message.ts'

/** One wording for every reason: wrong, used, expired, tried too often, of nobody. */
export const wrongCode = (): AppError => new AppError('InvalidVerificationCode', say('error.code'))

export const wrongCredentials = (): AppError =>
  new AppError('InvalidCredentials', say('error.credentials'))

export const wrongOldPassword = (): AppError =>
  new AppError('InvalidCredentials', 'The current password is wrong')

export const signUpDisabled = (): AppError =>
  new AppError('SignUpDisabled', say('error.sign-up-disabled'))

export const linkExpired = (): AppError => new AppError('LinkExpired', say('error.link-used'))
