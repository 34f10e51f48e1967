import type { PoolKind } from '#identity/pool-kind.ts'

import type { AuthEmail } from './auth-email.ts'

/** What a message says, before it is laid out. */
export interface EmailText {
  readonly subject: string
  readonly heading: string
  readonly paragraphs: readonly string[]
  readonly code?: string
  readonly link?: { readonly label: string; readonly url: string }
  /** What to do when the message comes unexpectedly. */
  readonly closing: string
}

export const ALARM =
  'If that was not you, reset your password and tell the people who run the site.'

/** Messages that tell what happened, and take no answer. */
const NOTICES = [
  'password-changed',
  'account-exists',
  'provider-linked',
  'provider-unlinked',
  'address-taken',
  'account-deleted',
] as const
type AccountNoticeEmail = Extract<AuthEmail, { readonly kind: (typeof NOTICES)[number] }>

export const isNotice = (email: AuthEmail): email is AccountNoticeEmail =>
  NOTICES.some((kind) => kind === email.kind)

export function noticeText(email: AccountNoticeEmail, name: string): EmailText {
  switch (email.kind) {
    case 'password-changed':
      return {
        subject: `Your password for ${name} was changed`,
        heading: 'Your password was changed',
        paragraphs: [
          `The password of your ${accountName(email.pool)} at ${name} is a new one now.`,
        ],
        closing: ALARM,
      }
    case 'account-exists':
      return {
        subject: `You have an account at ${name}`,
        heading: 'You have an account already',
        paragraphs: [
          `Somebody, probably you, signed up at ${name} with this address, which has an account.`,
          'Sign in with it. If you have forgotten the password, choose "Forgot your password?" there.',
        ],
        closing: 'If that was not you, ignore this message: your account has not changed.',
      }
    case 'provider-linked':
      return {
        subject: `${email.provider} was linked to your account at ${name}`,
        heading: `${email.provider} was linked`,
        paragraphs: [
          `You can sign in to your account at ${name} with ${email.provider} from now on.`,
        ],
        closing: ALARM,
      }
    case 'provider-unlinked':
      return {
        subject: `${email.provider} was taken off your account at ${name}`,
        heading: `${email.provider} was taken off`,
        paragraphs: [
          `Your account at ${name} is signed in to with its password from now on, and not with ${email.provider} any more.`,
        ],
        closing: ALARM,
      }
    case 'address-taken':
      return {
        subject: `Your address at ${name}`,
        heading: 'Somebody wanted your address',
        paragraphs: [
          `Somebody, perhaps you, wanted your address for another ${accountName(email.pool)} at ${name}.`,
          'It is that of your account, or was until a week ago: so nothing has changed.',
        ],
        closing: 'If that was not you, ignore this message.',
      }
    case 'account-deleted':
      return {
        subject: `Your account at ${name} is deleted`,
        heading: 'Your account is deleted',
        paragraphs: [`Your account at ${name} is deleted, and all that was kept for it with it.`],
        closing: 'If that was not you, tell the people who run the site at once.',
      }
  }
}

export const accountName = (pool: PoolKind): string =>
  pool === 'admin' ? 'admin account' : 'account'
