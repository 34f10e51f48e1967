import { entity, message } from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const type = readingsOf('content-type')
const VALUES: readonly string[] = [
  'text',
  'plain',
  'unknown',
  'text/',
  '/plain',
  'text/plain charset=utf-8',
  'text/plain;charset=utf-8;',
  'text/plain;; charset=utf-8',
  'text/plain; charset',
  'TEXT/PLAIN; CHARSET=UTF-8',
  'text / plain; charset=utf-8',
  'text/plain (words); charset=utf-8',
  'text/plain; charset="utf-8"; format=fixed; x',
  'text/plain; charset=utf-8; charset=us-ascii',
  ';charset=utf-8',
  ';;;',
  '',
  'x',
  'text/plain, text/html',
  'multipart/mixed',
  'multipart/mixed; boundary=',
  'multipart/mixed; boundary=""',
  'multipart/mixed; boundary=never',
  'multipart/alternative',
  'multipart/',
  'multipart',
]

/** Content types as they should not be: the text is shown still (RFC 2045 §5.2). */
export const CONTENT_TYPES: readonly Reading[] = [
  ...VALUES.map((value) =>
    type(
      value === ''
        ? 'empty'
        : `of ${value.replaceAll('/', ' slash ').replaceAll(';', ' semicolon ').replaceAll('"', ' quote ')}`,
      message(entity([`Content-Type: ${value}`], 'Größe und Maß\r\n')),
      { text: 'Größe und Maß', attachments: [] },
    ),
  ),
  type('missing', message(entity([], 'Größe und Maß\r\n')), { text: 'Größe und Maß' }),
  type(
    'html in other letters',
    message(entity(['Content-Type: Text/HTML;Charset="UTF-8"'], '<p>Größe</p>')),
    { html: 'Größe', contains: ['Größe'] },
  ),
  type('folded', message(entity(['Content-Type:\r\n text/plain;\r\n\tcharset=utf-8'], 'Größe')), {
    text: 'Größe',
  }),
  type(
    'twice',
    message(
      entity(['Content-Type: text/plain; charset=utf-8', 'Content-Type: text/html'], '<b>Größe'),
    ),
    { text: '<b>Größe', html: null },
  ),
  type(
    'xhtml',
    message(
      entity(
        [
          'Content-Type: application/xhtml+xml; charset=utf-8',
          'Content-Disposition: attachment; filename=a.xhtml',
        ],
        '<p>Größe</p>',
      ),
    ),
    { attachments: [{ filename: 'a.xhtml', content: Buffer.from('<p>Größe</p>') }] },
  ),
]
