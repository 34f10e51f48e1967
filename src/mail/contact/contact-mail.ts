import { escapeHtml } from '#identity/auth-emails/layout.ts'

import type { ContactRequest } from './model.ts'

interface ContactMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Where a submission came from, and the id that its sender was given. */
interface ContactSource {
  readonly siteDomain: string
  readonly messageId: string
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** The message of a submission. Its own words come last, so that they cannot pass for ours. */
export function contactMail(sent: ContactRequest, source: ContactSource): ContactMail {
  const answers =
    sent.replyTo === undefined
      ? 'An answer to this message does not reach them: write to that address.'
      : 'An answer to this message goes to that address.'
  const notice = `Somebody filled in the contact form of ${source.siteDomain}. Nobody has checked who it was, or the address below. ${answers}`
  const fields = fieldsOf(sent, source)
  return {
    subject: subjectOf(sent),
    text: [notice, fields.map((field) => field.join(': ')).join('\n'), sent.message].join('\n\n'),
    html: htmlOf(notice, fields, sent.message),
  }
}

const fieldsOf = (
  { name, email, phone, subject, metadata }: ContactRequest,
  { messageId }: ContactSource,
): (readonly [label: string, value: string])[] => [
  ...(name === '' ? [] : [['Name', name] as const]),
  ['Email', email],
  ...(phone === '' ? [] : [['Phone', phone] as const]),
  ...(subject === '' ? [] : [['Subject', subject] as const]),
  ['Reference', messageId],
  // Under their own prefix, or a key could pass for one of the fields above.
  ...metadata.map(([key, value]) => [`metadata.${key}`, value] as const),
]

/** `=?` begins an encoded word (RFC 2047): a reader's program would decode it to anything. */
const subjectOf = ({ subject, name, email }: ContactRequest): string =>
  `Contact form: ${subject || `message from ${name || email}`}`.replaceAll('=?', '= ?')

const htmlOf = (
  notice: string,
  fields: readonly (readonly [label: string, value: string])[],
  message: string,
): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"></head>',
    `<body style="margin:0;padding:24px 16px;${FONT};font-size:16px;line-height:1.5">`,
    `<p style="margin:0 0 16px;font-size:14px;opacity:.75">${escapeHtml(notice)}</p>`,
    '<table style="border-collapse:collapse;margin:0 0 16px">',
    ...fields.map(
      ([label, value]) =>
        `<tr><th dir="auto" style="text-align:start;vertical-align:top;padding:0 16px 4px 0">${escapeHtml(label)}</th><td dir="auto">${escapeHtml(value)}</td></tr>`,
    ),
    '</table>',
    `<div dir="auto" style="white-space:pre-wrap">${escapeHtml(message)}</div>`,
    '</body></html>',
  ].join('\n')
