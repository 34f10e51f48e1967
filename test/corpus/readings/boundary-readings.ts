import { attached, entity, html, joined, message, multipart, plain, render } from './entity.ts'
import { type ExpectedReading, type Reading, readingsOf } from './reading.ts'

const boundary = readingsOf('boundary')
const PDF = { filename: 'a.pdf', content: Buffer.from('%PDF') }
const pdf = attached('a.pdf', 'application/pdf', '%PDF')
const parts = [plain('words'), pdf] as const
const SHOWN: ExpectedReading = { text: 'words', attachments: [PDF] }

const named = (what: string, name: string): Reading =>
  boundary(what, message(multipart('mixed', parts, { boundary: name })), SHOWN)
const changed = (what: string, change: (text: string) => string, expected = SHOWN): Reading => {
  const text = render(multipart('mixed', parts, { boundary: 'edge' })).toString()
  return boundary(
    what,
    joined(
      'From: Eve <eve@else.test>\r\nTo: hello@one.test\r\nSubject: edges\r\nMIME-Version: 1.0\r\n',
      change(text),
    ),
    expected,
  )
}
const unquoted = (text: string): string => text.replace('"edge"', 'edge')

/** Boundaries in every form that RFC 2046 allows, and some that it does not. */
export const BOUNDARIES: readonly Reading[] = [
  named('of every sign', "a'()+_,-./:=?z"),
  named('with blanks', 'a b c'),
  named('of seventy signs', 'x'.repeat(70)),
  named('of two hundred signs', 'x'.repeat(200)),
  named('of dashes', '----------'),
  named('of outlook', '----=_NextPart_000_0012_01DA0B3C.5D6E7F80'),
  named('that a regular expression would read', 'a.*[b]+$'),
  changed('unquoted', unquoted),
  changed('unquoted before another parameter', (text) =>
    text.replace('"edge"', 'edge; charset=utf-8'),
  ),
  changed('with blanks behind', (text) => text.replaceAll('\r\n--edge\r\n', '\r\n--edge \t\r\n')),
  changed('not closed', (text) => text.replace('\r\n--edge--\r\n', '\r\n')),
  changed('closed without a line end', (text) => text.replace('--edge--\r\n', '--edge--')),
  changed('with a parameter of capitals', (text) => text.replace('boundary=', 'BOUNDARY=')),
  changed('with blanks around equals', (text) => text.replace('boundary=', 'boundary = ')),
  changed('in pieces of 2231', (text) =>
    text.replace('boundary="edge"', 'boundary*0="ed"; boundary*1="ge"'),
  ),
  changed('folded', (text) => text.replace('; boundary', ';\r\n\tboundary')),
  changed('in single quotes', (text) =>
    text.replace('"edge"', "'edge'").replaceAll('--edge', "--'edge'"),
  ),
  changed('quote not closed', (text) => text.replace('"edge"', '"edge')),
  changed('of lf alone', (text) => text.replaceAll('\r\n', '\n')),
  changed('directly behind the header', (text) =>
    text.replace('\r\n\r\n--edge', '\r\n\r\n\r\n--edge'),
  ),
  changed('without a blank line before it', (text) =>
    text.replace('words\r\n--edge', 'words\n--edge'),
  ),
  changed(
    'like lines of text',
    (text) => text.replace('words', '--edges\r\n--edg\r\n-- edge\r\nwords\r\n--edge--x'),
    { contains: ['--edges', '--edg', '-- edge', 'words'], attachments: [PDF] },
  ),
  changed('closed twice', (text) => `${text}\r\n--edge--\r\n`),
  changed(
    'parts behind the end',
    (text) => `${text}\r\n--edge\r\nContent-Type: text/plain\r\n\r\nbehind\r\n`,
    { contains: ['words'] },
  ),
  changed('cut in the middle of a file', (text) => text.slice(0, text.indexOf('JVBER') + 4), {
    text: 'words',
    attachments: [{ filename: 'a.pdf' }],
  }),
  boundary(
    'inner that the outer begins with',
    message(
      multipart(
        'mixed',
        [
          multipart('alternative', [plain('words'), html('<p>rich</p>')], {
            boundary: 'edge-inner',
          }),
          pdf,
        ],
        { boundary: 'edge' },
      ),
    ),
    { text: 'words', html: 'rich', attachments: [PDF] },
  ),
  boundary(
    'outer that the inner begins with',
    message(
      multipart(
        'mixed',
        [
          multipart('alternative', [plain('words'), html('<p>rich</p>')], { boundary: 'edge' }),
          pdf,
        ],
        { boundary: 'edge-outer' },
      ),
    ),
    { text: 'words', html: 'rich', attachments: [PDF] },
  ),
  boundary(
    'inner that is not closed',
    message(
      multipart(
        'mixed',
        [
          entity(
            ['Content-Type: multipart/alternative; boundary=inner'],
            '--inner\r\nContent-Type: text/plain\r\n\r\nwords',
          ),
          pdf,
        ],
        { boundary: 'outer' },
      ),
    ),
    SHOWN,
  ),
  boundary(
    'none and its lines are there',
    message(
      entity(
        ['Content-Type: multipart/mixed'],
        '--x\r\nContent-Type: text/plain\r\n\r\nwords\r\n--x--\r\n',
      ),
    ),
    { contains: ['words'], attachments: [] },
  ),
  boundary(
    'empty multipart',
    message(entity(['Content-Type: multipart/mixed; boundary=edge'], '--edge--\r\n')),
    { attachments: [] },
  ),
]
