import type { AuthEmail } from './auth-email.ts'
import { ALARM, type EmailText, accountName } from './notice-text.ts'

const FACTOR_NOTICES = [
  'second-factor-on',
  'second-factor-off',
  'second-factor-guessed',
  'passkey-added',
  'passkey-removed',
] as const
type FactorEmail = Extract<AuthEmail, { readonly kind: (typeof FACTOR_NOTICES)[number] }>

export const isFactorNotice = (email: AuthEmail): email is FactorEmail =>
  FACTOR_NOTICES.some((kind) => kind === email.kind)

/** Messages that tell what happened to an account's authenticator app and passkeys. */
export function factorText({ kind, pool }: FactorEmail, name: string): EmailText {
  const account = accountName(pool)
  if (kind === 'second-factor-guessed') {
    return {
      subject: `Somebody has your password for ${name}`,
      heading: 'Change your password',
      paragraphs: [
        `Somebody signed in to your ${account} at ${name} with the right password, and then entered ten wrong codes of your authenticator app. Without a right one nobody gets in.`,
        'For an hour, no code is taken any more.',
      ],
      closing:
        'If that was not you, change your password: choose "Forgot password?" where you sign in.',
    }
  }
  if (kind === 'passkey-added' || kind === 'passkey-removed')
    return passkeyText(kind, name, account)
  const isOn = kind === 'second-factor-on'
  return {
    subject: `${isOn ? 'An authenticator app was added to' : 'The authenticator app was taken off'} your account at ${name}`,
    heading: isOn ? 'An authenticator app was added' : 'The authenticator app was taken off',
    paragraphs: [
      isOn
        ? `Whoever signs in to your ${account} at ${name} with its password needs a code of the app, too.`
        : `Your ${account} at ${name} is signed in to with its password alone from now on.`,
    ],
    closing: ALARM,
  }
}

function passkeyText(
  kind: 'passkey-added' | 'passkey-removed',
  name: string,
  account: string,
): EmailText {
  const isAdded = kind === 'passkey-added'
  return {
    subject: `A passkey was ${isAdded ? 'added to' : 'removed from'} your account at ${name}`,
    heading: `A passkey was ${isAdded ? 'added' : 'removed'}`,
    paragraphs: [
      isAdded
        ? `The device that holds it signs in to your ${account} at ${name} from now on.`
        : `It does not sign in to your ${account} at ${name} any more.`,
    ],
    closing: ALARM,
  }
}
