import { createHash } from 'node:crypto'

export type Bytes = string | Uint8Array

/** A MIME entity: its fields, and its body as it is transferred. */
export interface Entity {
  readonly fields: readonly Bytes[]
  readonly body: Buffer
}

export type TransferEncoding = '7bit' | '8bit' | 'binary' | 'base64' | 'quoted-printable'

const BASE64_LINE = 76
const HARD_BREAK = Buffer.from('\r\n')

export const joined = (...pieces: readonly Bytes[]): Buffer =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece)))

export const entity = (fields: readonly Bytes[], body: Bytes): Entity => ({
  fields,
  body: Buffer.from(body),
})

/** An entity whose content is encoded for its transfer. */
export const encoded = (
  fields: readonly Bytes[],
  content: Bytes,
  encoding: TransferEncoding,
): Entity =>
  entity(
    [...fields, `Content-Transfer-Encoding: ${encoding}`],
    transferred(Buffer.from(content), encoding),
  )

export const plain = (words: Bytes, fields: readonly Bytes[] = []): Entity =>
  encoded(['Content-Type: text/plain; charset=utf-8', ...fields], words, '8bit')

export const html = (words: Bytes, fields: readonly Bytes[] = []): Entity =>
  encoded(['Content-Type: text/html; charset=utf-8', ...fields], words, '8bit')

export const attached = (
  filename: string,
  contentType: string,
  content: Bytes,
  encoding: TransferEncoding = 'base64',
): Entity =>
  encoded(
    [
      `Content-Type: ${contentType}; name="${filename}"`,
      `Content-Disposition: attachment; filename="${filename}"`,
    ],
    content,
    encoding,
  )

export interface MultipartOptions {
  readonly boundary?: string
  readonly parameters?: string
  readonly preamble?: Bytes
  readonly epilogue?: Bytes
}

export function multipart(
  subtype: string,
  parts: readonly Entity[],
  { boundary, parameters = '', preamble = '', epilogue = '' }: MultipartOptions = {},
): Entity {
  const rendered = parts.map((part) => render(part))
  const delimiter =
    boundary ??
    `=_${createHash('sha1')
      .update(joined(subtype, ...rendered))
      .digest('hex')
      .slice(0, 16)}`
  const body = joined(
    preamble,
    ...rendered.flatMap((part) => [`\r\n--${delimiter}\r\n`, part]),
    `\r\n--${delimiter}--\r\n`,
    epilogue,
  )
  return entity(
    [`Content-Type: multipart/${subtype}${parameters}; boundary="${delimiter}"`],
    preamble === '' ? body.subarray(HARD_BREAK.length) : body,
  )
}

export const render = ({ fields, body }: Entity): Buffer =>
  joined(...fields.flatMap((field) => [field, '\r\n']), '\r\n', body)

/** A whole message: the entity, with the fields that a message has besides. */
export function message(content: Entity, fields: readonly Bytes[] = []): Buffer {
  const names = new Set(fields.map((field) => nameOf(field)))
  const others = [
    'From: Eve <eve@else.test>',
    'To: hello@one.test',
    'Subject: a reading',
    'Date: Mon, 2 Nov 2026 10:00:00 +0100',
    'Message-ID: <reading@else.test>',
    'MIME-Version: 1.0',
  ].filter((field) => !names.has(nameOf(field)))
  return render({ ...content, fields: [...others, ...fields, ...content.fields] })
}

const nameOf = (field: Bytes): string =>
  Buffer.from(field).toString('latin1').split(':', 1)[0]?.toLowerCase() ?? ''

function transferred(content: Buffer, encoding: TransferEncoding): Buffer {
  switch (encoding) {
    case 'base64':
      return Buffer.from(base64Lines(content))
    case 'quoted-printable':
      return Buffer.from(quotedPrintable(content))
    case '7bit':
    case '8bit':
    case 'binary':
      return content
  }
}

export function base64Lines(content: Buffer): string {
  const letters = content.toString('base64')
  const lines = Array.from({ length: Math.ceil(letters.length / BASE64_LINE) }, (_, at) =>
    letters.slice(at * BASE64_LINE, (at + 1) * BASE64_LINE),
  )
  return lines.join('\r\n')
}

/** Line ends of CRLF stay line ends; every other control character, and blanks at the end of a line, are encoded. */
function quotedPrintable(content: Buffer): string {
  const lines: string[] = []
  let line = ''
  const put = (piece: string) => {
    if (line.length + piece.length > BASE64_LINE - 1) {
      lines.push(`${line}=`)
      line = ''
    }
    line += piece
  }
  for (let at = 0; at < content.length; at += 1) {
    if (content.subarray(at, at + 2).equals(HARD_BREAK)) {
      lines.push(line)
      line = ''
      at += 1
      continue
    }
    put(quoted(content, at))
  }
  return [...lines, line].join('\r\n')
}

function quoted(content: Buffer, at: number): string {
  const byte = content[at] ?? 0
  const isBlank = byte === 0x20 || byte === 0x09
  const next = content[at + 1]
  const endsLine = next === undefined || next === 0x0d || next === 0x0a
  const isPlain = (byte > 0x20 && byte < 0x7f && byte !== 0x3d) || (isBlank && !endsLine)
  return isPlain
    ? String.fromCharCode(byte)
    : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
}
