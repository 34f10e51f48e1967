import { htmlBody, plainTextBody } from '#identity/auth-emails/layout.ts'
import type { EmailText } from '#identity/auth-emails/notice-text.ts'

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
export function verificationMail(request: VerificationRequest): VerificationMail {
  const words = wordsOf(request)
  const { siteDomain } = request
  return {
    // `=?` begins an encoded word (RFC 2047): a reader's program would decode what a mailbox is named to anything.
    subject: words.subject.replaceAll('=?', '= ?'),
    text: plainTextBody(words, siteDomain),
    html: htmlBody(words, siteDomain),
  }
}

const wordsOf = (request: VerificationRequest): EmailText => ({
  subject: `Confirm that mail to ${request.mailbox} is forwarded to you`,
  heading: 'Do you want this mail?',
  paragraphs: [
    `Somebody who reads the mailbox ${request.mailbox} of the site ${request.siteDomain} wants its mail to be forwarded to ${request.target}.`,
    `It is forwarded once you agree. The link is good until ${request.expiresAt.toUTCString()}.`,
  ],
  link: { label: 'See what you agree to', url: request.url },
  closing:
    'If you do not expect this, ignore this message: then no mail is forwarded to you, and nothing else happens.',
})
