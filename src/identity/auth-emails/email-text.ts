import type { TextKey } from '#languages/catalogues.ts'
import { type LocalizedMessage, type MessageValues, t } from '#languages/message.ts'

import type { AuthEmail } from './auth-email.ts'

/** What a message says, before it is laid out in a language. */
export interface EmailText {
  readonly subject: LocalizedMessage
  readonly heading: LocalizedMessage
  readonly paragraphs: readonly LocalizedMessage[]
  readonly code?: string | undefined
  readonly link?: { readonly label: LocalizedMessage; readonly url: string } | undefined
  /** What to do when the message comes unexpectedly. */
  readonly closing: LocalizedMessage
}

/** Where the words are that are not its own subject and heading. */
interface EmailKeys {
  readonly paragraphs: readonly TextKey[]
  readonly link?: TextKey
  readonly closing: TextKey
}

const KEYS: Record<AuthEmail['kind'], EmailKeys> = {
  invite: {
    paragraphs: ['mail.invite.text', 'mail.invite.more'],
    link: 'mail.invite.link',
    closing: 'mail.invite.closing',
  },
  verification: { paragraphs: ['mail.verification.text'], closing: 'mail.ignore' },
  reset: { paragraphs: ['mail.reset.text'], closing: 'mail.ignore' },
  proof: { paragraphs: ['mail.proof.text', 'mail.proof.more'], closing: 'mail.proof.closing' },
  'password-changed': { paragraphs: ['mail.password-changed.text'], closing: 'mail.alarm' },
  'account-exists': {
    paragraphs: ['mail.account-exists.text', 'mail.account-exists.more'],
    closing: 'mail.account-exists.closing',
  },
  'provider-linked': { paragraphs: ['mail.provider-linked.text'], closing: 'mail.alarm' },
  'provider-unlinked': { paragraphs: ['mail.provider-unlinked.text'], closing: 'mail.alarm' },
  'address-taken': {
    paragraphs: ['mail.address-taken.text', 'mail.address-taken.more'],
    closing: 'mail.address-taken.closing',
  },
  'account-deleting': {
    paragraphs: ['mail.account-deleting.text', 'mail.account-deleting.more'],
    link: 'mail.account-deleting.link',
    closing: 'mail.account-deleting.closing',
  },
  'account-deleted': { paragraphs: ['mail.account-deleted.text'], closing: 'mail.tell' },
  'second-factor-on': { paragraphs: ['mail.second-factor-on.text'], closing: 'mail.alarm' },
  'second-factor-off': { paragraphs: ['mail.second-factor-off.text'], closing: 'mail.alarm' },
  'second-factor-guessed': {
    paragraphs: ['mail.second-factor-guessed.text', 'mail.second-factor-guessed.more'],
    closing: 'mail.second-factor-guessed.closing',
  },
  'passkey-added': { paragraphs: ['mail.passkey-added.text'], closing: 'mail.alarm' },
  'passkey-removed': { paragraphs: ['mail.passkey-removed.text'], closing: 'mail.alarm' },
  'address-proof': {
    paragraphs: ['mail.address-proof.text', 'mail.address-proof.more'],
    link: 'mail.address-proof.link',
    closing: 'mail.ignore',
  },
  'address-changed': { paragraphs: ['mail.address-changed.text'], closing: 'mail.tell' },
}

/** Of an address that was replaced, where its owner can take the account back. */
const UNDOABLE: EmailKeys = {
  paragraphs: ['mail.address-changed.text', 'mail.address-changed.undo'],
  link: 'mail.address-changed.link',
  closing: 'mail.address-changed.closing',
}

/** The words of each message; `site` is its domain. */
export function emailTextOf(email: AuthEmail, site: string): EmailText {
  const { kind } = email
  const link = linkOf(email)
  const isUndoable = kind === 'address-changed' && link !== undefined
  const keys = isUndoable ? UNDOABLE : KEYS[kind]
  const values: MessageValues = { site, ...email, until: link?.expiresAt }
  return {
    subject: t(`mail.${kind}.subject`, values),
    heading: t(`mail.${kind}.heading`, values),
    paragraphs: keys.paragraphs.map((key) => t(key, values)),
    code: 'code' in email ? email.code : undefined,
    link: link && keys.link && { label: t(keys.link, values), url: link.url },
    closing: t(keys.closing, values),
  }
}

function linkOf(email: AuthEmail): { readonly url: string; readonly expiresAt: Date } | undefined {
  if (email.kind === 'address-changed') return email.undo
  return 'url' in email ? email : undefined
}
