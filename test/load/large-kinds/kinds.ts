import {
  base64Lines,
  type Entity,
  entity,
  joined,
  message,
  multipart,
  plain,
} from '#corpus/readings/entity.ts'

const MIB = 1024 * 1024
const LINE = 'Some words of plain text, as people and programs write them.\r\n'
const QUOTED = 'Gr=C3=B6=C3=9Fe und Ma=C3=9F, as people write them=2E=\r\n'
const ROW =
  '<tr><td style="background:#111;color:#fff">a cell</td><td>and <b>one</b> more</td></tr>\r\n'
const DEPTH = 45
const PARTS = 100_000

/** What a large message has to show. */
export interface LargeExpectation {
  /** Of its file, or of its text, which is a file where it is cut. */
  readonly attachmentBytes?: number
  /** What it has text of. */
  readonly textStart?: string
}

export interface LargeKind {
  readonly name: string
  readonly make: (sizeBytes: number) => Buffer
  readonly expected: (sizeBytes: number) => LargeExpectation
}

const filled = (line: string, sizeBytes: number): string =>
  line.repeat(Math.ceil(sizeBytes / line.length)).slice(0, sizeBytes)
const text = (fields: readonly string[], body: string): Buffer =>
  message(entity(['Content-Type: text/plain; charset=utf-8', ...fields], body))
const file = (encoding: string, body: string): Entity =>
  entity(
    [
      'Content-Type: application/octet-stream',
      'Content-Disposition: attachment; filename=large.bin',
      `Content-Transfer-Encoding: ${encoding}`,
    ],
    body,
  )
const beside = (part: Entity): Buffer => message(multipart('mixed', [plain('words'), part]))
/** Each line of 76 letters and its end are 57 bytes. */
const decodedBytes = (sizeBytes: number): number => Math.floor(sizeBytes / 78) * 57
const UU_LINE = `M${'#'.repeat(60)}\r\n`

/** A message of that size, of every kind that takes a parser something. */
export const LARGE_KINDS: readonly LargeKind[] = [
  {
    name: 'base64 attachment',
    make: (size) => beside(file('base64', base64Lines(Buffer.alloc(decodedBytes(size), 'x')))),
    expected: (size) => ({ attachmentBytes: decodedBytes(size), textStart: 'words' }),
  },
  {
    name: '8bit attachment',
    make: (size) => beside(file('8bit', filled(LINE, size))),
    expected: (size) => ({ attachmentBytes: size, textStart: 'words' }),
  },
  {
    name: 'quoted-printable attachment',
    make: (size) => beside(file('quoted-printable', filled('=41=42=43=\r\n', size))),
    expected: () => ({ textStart: 'words' }),
  },
  {
    name: 'uuencoded attachment',
    make: (size) =>
      beside(
        file(
          'x-uuencode',
          `begin 644 a\r\n${UU_LINE.repeat(Math.floor(size / UU_LINE.length))}\`\r\nend\r\n`,
        ),
      ),
    expected: (size) => ({
      attachmentBytes: Math.floor(size / UU_LINE.length) * 45,
      textStart: 'words',
    }),
  },
  {
    name: '8bit text',
    make: (size) => text([], filled(LINE, size)),
    expected: (size) => ({ attachmentBytes: size, textStart: 'Some words' }),
  },
  {
    name: 'quoted-printable text',
    make: (size) => text(['Content-Transfer-Encoding: quoted-printable'], filled(QUOTED, size)),
    expected: () => ({ textStart: 'Größe und Maß' }),
  },
  {
    name: 'base64 text',
    make: (size) =>
      text(
        ['Content-Transfer-Encoding: base64'],
        base64Lines(Buffer.from(filled(LINE, decodedBytes(size)))),
      ),
    expected: (size) => ({ attachmentBytes: decodedBytes(size), textStart: 'Some words' }),
  },
  {
    name: 'flowed text',
    make: (size) =>
      message(entity(['Content-Type: text/plain; format=flowed'], filled('some words \r\n', size))),
    expected: (size) => ({ attachmentBytes: size, textStart: 'some words some words' }),
  },
  {
    name: 'one line',
    make: (size) => text([], 'x'.repeat(size)),
    expected: (size) => ({ attachmentBytes: size, textStart: 'xxxx' }),
  },
  {
    name: 'short lines',
    make: (size) => text([], 'a\r\n'.repeat(Math.floor(size / 3))),
    expected: (size) => ({ attachmentBytes: Math.floor(size / 3) * 3, textStart: 'a a a' }),
  },
  {
    name: 'HTML',
    make: (size) =>
      message(
        entity(['Content-Type: text/html; charset=utf-8'], `<table>${filled(ROW, size)}</table>`),
      ),
    expected: (size) => ({ attachmentBytes: size + '<table></table>'.length, textStart: 'a cell' }),
  },
  {
    name: 'nested 45 deep',
    make: (size) => {
      let inner = multipart('mixed', [plain('words'), file('8bit', filled(LINE, size))])
      for (let depth = 0; depth < DEPTH; depth += 1) inner = multipart('mixed', [inner])
      return message(inner)
    },
    expected: (size) => ({ attachmentBytes: size, textStart: 'words' }),
  },
  {
    name: '100,000 parts',
    make: (size) => {
      const part = `--p\r\nContent-Type: application/x\r\n\r\n`
      const body = 'x'.repeat(Math.max(1, Math.floor(size / PARTS) - part.length - 2))
      const parts = `${part}${body}\r\n`.repeat(PARTS)
      return message(
        entity(
          ['Content-Type: multipart/mixed; boundary=p'],
          joined('--p\r\n\r\nwords\r\n', parts, '--p--\r\n'),
        ),
      )
    },
    expected: () => ({ textStart: 'words' }),
  },
  {
    name: 'message in a message',
    make: (size) =>
      beside(
        entity(['Content-Type: message/rfc822'], text(['Subject: inner'], filled(LINE, size))),
      ),
    expected: () => ({ textStart: 'words' }),
  },
]

export const LARGE_SIZES: readonly number[] = [10 * MIB, 25 * MIB - 64 * 1024]
