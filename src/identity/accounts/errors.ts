import { AppError } from '#base/app-error.ts'
import { t } from '#languages/message.ts'

/** One wording for every reason: wrong, used, expired, tried too often, unknown. */
export const wrongCode = (): AppError => new AppError('InvalidVerificationCode', t('error.code'))

export const wrongCredentials = (): AppError =>
  new AppError('InvalidCredentials', t('error.credentials'))

export const wrongOldPassword = (): AppError =>
  new AppError('InvalidCredentials', 'The current password is wrong')

export const signUpDisabled = (): AppError =>
  new AppError('SignUpDisabled', t('error.sign-up-disabled'))

export const linkExpired = (): AppError => new AppError('LinkExpired', t('error.link-used'))
