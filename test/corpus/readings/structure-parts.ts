import { attached, encoded, type Entity, html, multipart, plain } from './entity.ts'
import { type ExpectedAttachment } from './reading.ts'

export const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

export const rich = html('<p>rich <b>words</b></p>')
export const image = encoded(
  [
    'Content-Type: image/png; name="logo.png"',
    'Content-ID: <logo@x.test>',
    'Content-Disposition: inline; filename="logo.png"',
  ],
  PNG,
  'base64',
)
export const pictured = html('<p>rich <b>words</b><img src="cid:logo@x.test"></p>')
export const pdf = attached('a.pdf', 'application/pdf', '%PDF')
export const notes = encoded(
  [
    'Content-Type: text/plain; name="notes.txt"; charset=utf-8',
    'Content-Disposition: inline; filename="notes.txt"',
  ],
  'the notes\r\n',
  '7bit',
)
export const LOGO: ExpectedAttachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  content: PNG,
}
export const PDF: ExpectedAttachment = {
  filename: 'a.pdf',
  contentType: 'application/pdf',
  content: Buffer.from('%PDF'),
}
export const NOTES: ExpectedAttachment = {
  filename: 'notes.txt',
  contentType: 'text/plain',
  content: Buffer.from('the notes\r\n'),
}
export const BOTH = { text: 'plain words', html: 'rich words' } as const
export const calendar = (fields: readonly string[] = []): Entity =>
  encoded(
    ['Content-Type: text/calendar; charset=utf-8; method=REQUEST', ...fields],
    'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n',
    '7bit',
  )
export const ICS = Buffer.from('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n')
export const alternative = (...parts: readonly Entity[]): Entity =>
  multipart('alternative', [plain('plain words'), ...parts])
