import type { Language } from '#base/language.ts'
import type { EmailText } from '#identity/auth-emails/email-text.ts'
import { htmlBody, plainTextBody } from '#identity/auth-emails/layout.ts'
import { t } from '#languages/message.ts'

interface VerificationRequest {
  readonly siteDomain: string
  readonly mailbox: string
  readonly target: string
  readonly url: string
  readonly expiresAt: Date
}

interface VerificationMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The message that asks the reader of a target for consent to the mail of a mailbox. */
export function verificationMail(
  request: VerificationRequest,
  language: Language,
): VerificationMail {
  const words = textOf(request)
  const { siteDomain } = request
  return {
    // `=?` begins an encoded word (RFC 2047): a reader's program would decode what a mailbox is named to anything.
    subject: words.subject.in(language).replaceAll('=?', '= ?'),
    text: plainTextBody(words, siteDomain, language),
    html: htmlBody(words, siteDomain, language),
  }
}

function textOf({ siteDomain, mailbox, target, url, expiresAt }: VerificationRequest): EmailText {
  const values = { site: siteDomain, mailbox, target, until: expiresAt }
  return {
    subject: t('mail.forwarding.subject', values),
    heading: t('mail.forwarding.heading', values),
    paragraphs: [t('mail.forwarding.text', values), t('mail.forwarding.more', values)],
    link: { label: t('mail.forwarding.link', values), url },
    closing: t('mail.forwarding.closing', values),
  }
}
