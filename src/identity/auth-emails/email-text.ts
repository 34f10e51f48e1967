import type { AuthEmail } from './auth-email.ts'
import { factorText, isFactorNotice } from './factor-text.ts'
import { type EmailText, accountName, isNotice, noticeText } from './notice-text.ts'

const IGNORE = 'If you did not ask for this, ignore this message: without it nothing happens.'

/** The words of each message; `name` is the site's. */
export function emailTextOf(email: AuthEmail, name: string): EmailText {
  if (isFactorNotice(email)) return factorText(email, name)
  if (isNotice(email)) return noticeText(email, name)
  switch (email.kind) {
    case 'invite':
      return inviteText(name, email.url, email.expiresAt)
    case 'verification':
    case 'reset':
      return codeText(email.kind, name, email.code)
    case 'address-proof':
      return proofText(name, accountName(email.pool), email.url, email.expiresAt)
    case 'address-changed':
      return changedText(name, accountName(email.pool), email.undo)
  }
}

function proofText(name: string, account: string, url: string, expiresAt: Date): EmailText {
  return {
    subject: `Confirm your new address for ${name}`,
    heading: 'Confirm your new address',
    paragraphs: [
      `Somebody, probably you, wants this to be the address of their ${account} at ${name}.`,
      `Until you confirm it, nothing changes. The link works once, until ${utc(expiresAt)}.`,
    ],
    link: { label: 'Use this address', url },
    closing: IGNORE,
  }
}

function changedText(
  name: string,
  account: string,
  undo: { readonly url: string; readonly expiresAt: Date } | undefined,
): EmailText {
  const isWrong = 'If that was not you, tell the people who run the site at once.'
  return {
    subject: `Your address at ${name} was changed`,
    heading: 'Your address was changed',
    paragraphs: [
      `Your ${account} at ${name} has another email address now.`,
      ...(undo
        ? [
            `If that was not you, take it back: the link gives the account this address again and ends every sign-in. It works until ${utc(undo.expiresAt)}.`,
          ]
        : []),
    ],
    ...(undo && { link: { label: 'Take the account back', url: undo.url } }),
    closing: undo ? 'If it was you, there is nothing to do.' : isWrong,
  }
}

function inviteText(name: string, url: string, expiresAt: Date): EmailText {
  return {
    subject: `Your invitation to ${name}`,
    heading: `You are invited to ${name}`,
    paragraphs: [
      'Choose a password to take your account.',
      `The link works once, until ${utc(expiresAt)}. Whoever has it can take the account: keep it to yourself.`,
    ],
    link: { label: 'Take your account', url },
    closing: 'If you do not expect an invitation, ignore this message.',
  }
}

function codeText(kind: 'verification' | 'reset', name: string, code: string): EmailText {
  const advice = 'Nobody who works for the site will ever ask you for it.'
  return kind === 'verification'
    ? {
        subject: `${code} is your code for ${name}`,
        heading: 'Confirm your address',
        paragraphs: [`Enter this code at ${name}. It is good for 24 hours. ${advice}`],
        code,
        closing: IGNORE,
      }
    : {
        subject: `${code} resets your password for ${name}`,
        heading: 'Choose a new password',
        paragraphs: [`Enter this code at ${name}. It is good for one hour. ${advice}`],
        code,
        closing: IGNORE,
      }
}

/** `Fri, 27 Nov 2026 12:00 UTC` */
const utc = (date: Date): string => date.toUTCString().replace(/:\d\d GMT$/, ' UTC')
