import type { Language } from '#base/language.ts'
import type { EmailText } from '#identity/auth-emails/email-text.ts'
import { htmlBody, plainTextBody } from '#identity/auth-emails/layout.ts'
import { say } from '#languages/message.ts'

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

/** The message that asks whoever reads a target whether they want the mail of a mailbox. */
export function verificationMail(
  request: VerificationRequest,
  language: Language,
): VerificationMail {
  const words = wordsOf(request)
  const { siteDomain } = request
  return {
    // `=?` begins an encoded word (RFC 2047): a reader's program would decode what a mailbox is named to anything.
    subject: words.subject.in(language).replaceAll('=?', '= ?'),
    text: plainTextBody(words, siteDomain, language),
    html: htmlBody(words, siteDomain, language),
  }
}

function wordsOf({ siteDomain, mailbox, target, url, expiresAt }: VerificationRequest): EmailText {
  const values = { site: siteDomain, mailbox, target, until: expiresAt }
  return {
    subject: say('mail.forwarding.subject', values),
    heading: say('mail.forwarding.heading', values),
    paragraphs: [say('mail.forwarding.text', values), say('mail.forwarding.more', values)],
    link: { label: say('mail.forwarding.link', values), url },
    closing: say('mail.forwarding.closing', values),
  }
}
