import {
  base64Lines,
  type Bytes,
  encoded,
  type Entity,
  entity,
  message,
  multipart,
  plain,
} from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const UU_LINE = 45
const bytes = readingsOf('odd-encoding')
const content = Buffer.from('a,b\r\n1,2\r\nsome more words than one line of it has, to be long')
const base64 = content.toString('base64')
const file = (encoding: string, body: Bytes): Entity =>
  entity(
    [
      'Content-Type: text/csv',
      'Content-Disposition: attachment; filename=data.csv',
      ...(encoding === '' ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
    ],
    body,
  )

const withFile = (what: string, file: Entity, content: Buffer): Reading =>
  bytes(what, message(multipart('mixed', [plain('words'), file])), {
    text: 'words',
    attachments: [{ filename: 'data.csv', content }],
  })

/** Transfer encodings as they should not be, but come. */
export const ODD_ENCODINGS: readonly Reading[] = [
  withFile('base64 in one line', file('base64', base64), content),
  withFile('base64 without padding', file('base64', base64.replace(/=+$/, '')), content),
  withFile('base64 with blanks', file('base64', base64.replaceAll(/(.{9})/g, '$1 ')), content),
  withFile('base64 with lf', file('base64', base64.replaceAll(/(.{20})/g, '$1\n')), content),
  withFile(
    'base64 with signs',
    file('base64', `${base64.slice(0, 12)}\r\n!*\r\n${base64.slice(12)}`),
    content,
  ),
  withFile('base64 in capitals', file('BASE64', base64Lines(content)), content),
  withFile('base64 with a comment', file('base64 (standard)', base64Lines(content)), content),
  withFile('base64 in quotes', file('"base64"', base64Lines(content)), content),
  withFile(
    'base64 with blank lines',
    file('base64', `\r\n${base64Lines(content)}\r\n\r\n`),
    content,
  ),
  withFile('no encoding', file('', content), content),
  withFile('unknown encoding', file('x-none', content), content),
  withFile('encoding that is empty', file('', content), content),
  withFile('binary with nul', file('binary', 'a\0\r\nb'), Buffer.from('a\0\r\nb')),
  withFile('uuencode', file('x-uuencode', uuencoded(content)), content),
  withFile('uue', file('x-uue', uuencoded(content)), content),
  withFile(
    'quoted-printable in lower case',
    file('quoted-printable', 'a=3db=c3=a4'),
    Buffer.from('a=bä'),
  ),
  withFile(
    'quoted-printable that is wrong',
    file('quoted-printable', 'a=ZZ=\r\nb=4'),
    Buffer.from('a=ZZb=4'),
  ),
  withFile(
    'quoted-printable with blanks before soft ends',
    file('quoted-printable', 'a= \t\r\nb'),
    Buffer.from('ab'),
  ),
  bytes(
    'lf file',
    Buffer.from(
      message(multipart('mixed', [plain('words'), file('8bit', 'a,b\r\n1,2\r\n')]))
        .toString('latin1')
        .replaceAll('\r\n', '\n'),
      'latin1',
    ),
    {
      text: 'words',
      attachments: [{ filename: 'data.csv', content: Buffer.from('a,b\n1,2\n') }],
    },
  ),
  bytes('message alone', message(file('base64', base64Lines(content))), {
    attachments: [{ filename: 'data.csv', content }],
  }),
  bytes(
    'whole message of an image',
    message(encoded(['Content-Type: image/png'], Buffer.of(1, 2, 3), 'base64')),
    {
      attachments: [
        { filename: 'part-1.png', contentType: 'image/png', content: Buffer.of(1, 2, 3) },
      ],
    },
  ),
]

/** As `uuencode` writes it, with a name of its own inside. */
function uuencoded(content: Buffer): string {
  const sign = (value: number): string => (value === 0 ? '`' : String.fromCharCode(value + 32))
  const lines: string[] = []
  for (let at = 0; at < content.length; at += UU_LINE) {
    const line = content.subarray(at, at + UU_LINE)
    const padded = Buffer.concat([line, Buffer.alloc((3 - (line.length % 3)) % 3)])
    const letters = Array.from({ length: padded.length / 3 }, (_, group) =>
      padded.readUIntBE(group * 3, 3),
    ).flatMap((value) => [18, 12, 6, 0].map((shift) => sign((value >> shift) & 63)))
    lines.push(`${sign(line.length)}${letters.join('')}`)
  }
  return ['begin 644 inner.csv', ...lines, '`', 'end', ''].join('\r\n')
}
