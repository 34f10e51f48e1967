import {
  type Bytes,
  encoded,
  type Entity,
  message,
  multipart,
  plain,
  type TransferEncoding,
} from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'
import { type Seeded } from './seeded.ts'

const bytes = readingsOf('attachment-bytes')

const CONTENTS: readonly (readonly [what: string, content: Bytes])[] = [
  ['crlf', 'a,b\r\n1,2\r\n'],
  ['crlf without a last one', 'a,b\r\n1,2'],
  ['blank lines', '\r\na\r\n\r\n\r\n'],
  ['trailing blanks', 'a  \r\nb\t\r\n   \r\n'],
  ['dots and dashes', '.\r\n..\r\n--\r\n-- \r\nFrom x\r\n'],
  ['equals signs', 'a=b\r\n=3D=\r\nx==\r\n'],
  ['umlauts', 'Größe;Maß\r\n'],
  ['nothing', ''],
]
/** What only an encoding keeps: SMTP knows no line end but CRLF. */
const BARE: readonly (readonly [what: string, content: Bytes])[] = [
  ['lf', 'a,b\n1,2\n'],
  ['cr', 'a,b\r1,2\r'],
  ['mixed ends', 'a\nb\r\nc\rd'],
  ['nul', 'a\0b\0\r\n'],
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, at) => at))],
  ['long line', 'x'.repeat(5000)],
  ['utf-16', Buffer.from('\uFEFFGröße\r\n', 'utf16le')],
]

const TYPES: readonly [string, ...string[]] = [
  'text/csv',
  'text/plain; charset=utf-8',
  'application/octet-stream',
  'application/json',
  'text/x-patch; charset=iso-8859-1',
]

/** Attachments, byte for byte, in every transfer encoding. */
export function attachmentReadings(seeded: Seeded): readonly Reading[] {
  const encodings: readonly TransferEncoding[] = ['7bit', '8bit', 'quoted-printable', 'base64']
  return [
    ...encodings.flatMap((encoding) =>
      CONTENTS.filter(([what]) => encoding !== '7bit' || what !== 'umlauts').map(
        ([what, content]) =>
          inEncoding(`${encoding} ${what}`, content, encoding, seeded.pick(TYPES)),
      ),
    ),
    ...BARE.flatMap(([what, content]) => [
      inEncoding(`base64 ${what}`, content, 'base64', seeded.pick(TYPES)),
      inEncoding(`quoted-printable ${what}`, content, 'quoted-printable', seeded.pick(TYPES)),
    ]),
    ...Array.from({ length: 6 }, (_, at) =>
      inEncoding(
        `base64 noise ${at + 1}`,
        seeded.bytes(seeded.below(3000)),
        'base64',
        'application/octet-stream',
      ),
    ),
  ]
}

function inEncoding(
  what: string,
  content: Bytes,
  encoding: TransferEncoding,
  type: string,
): Reading {
  const file = encoded(
    [`Content-Type: ${type}`, 'Content-Disposition: attachment; filename=data.csv'],
    content,
    encoding,
  )
  return withFile(what, file, Buffer.from(content))
}

const withFile = (what: string, file: Entity, content: Buffer): Reading =>
  bytes(what, message(multipart('mixed', [plain('words'), file])), {
    text: 'words',
    attachments: [{ filename: 'data.csv', content }],
  })
