import { encodeIn } from './charset-bytes.ts'
import {
  type Bytes,
  encoded,
  joined,
  message,
  multipart,
  plain,
  type TransferEncoding,
} from './entity.ts'
import { WRITTEN } from './languages.ts'
import { type Reading, readingsOf } from './reading.ts'
import { type Seeded } from './seeded.ts'

const WIDE = /^utf-16/
const escaped = (bytes: Uint8Array, sign: string): string =>
  Array.from(bytes, (byte) => `${sign}${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

const bWord = (charset: string, words: string): string =>
  `=?${charset}?B?${encodeIn(charset, words).toString('base64')}?=`
const qWord = (charset: string, words: string): string =>
  `=?${charset}?Q?${escaped(encodeIn(charset, words), '=')}?=`

const body = readingsOf('charset-body')
const header = readingsOf('charset-header')
const name = readingsOf('charset-filename')

/** Every charset in bodies of text and HTML, in headers, and in file names. */
export const charsetReadings = (seeded: Seeded): readonly Reading[] =>
  WRITTEN.flatMap(([charset, words]) => [
    ...bodies(charset, words, seeded),
    headers(charset, words),
    filename(charset, words),
    foldedFilename(charset, words),
  ])

function bodies(charset: string, words: string, seeded: Seeded): Reading[] {
  const encodings: readonly [TransferEncoding, ...TransferEncoding[]] = WIDE.test(charset)
    ? ['base64']
    : ['8bit', 'quoted-printable', 'base64']
  const type = (subtype: string) => `Content-Type: text/${subtype}; charset=${charset}`
  const page = `<html><body><p>${words}</p></body></html>`
  return [
    ...encodings.map((encoding) =>
      body(
        `${charset}-${encoding}`,
        message(encoded([type('plain')], encodeIn(charset, words), encoding)),
        { text: words, html: null, attachments: [] },
      ),
    ),
    body(
      `${charset}-html`,
      message(encoded([type('html')], encodeIn(charset, page), seeded.pick(encodings))),
      { html: words, contains: [words] },
    ),
  ]
}

function headers(charset: string, words: string): Reading {
  const fields = [
    `Subject: ${bWord(charset, words)}`,
    `From: ${qWord(charset, words)} <ann@shop.test>`,
  ]
  return header(charset, message(plain('words'), fields), {
    subject: words,
    from: [words, 'ann@shop.test'],
    text: 'words',
  })
}

/** RFC 2231, in one piece. */
const filename = (charset: string, words: string): Reading =>
  name(
    `${charset}-2231`,
    withFile(`filename*=${charset}''${escaped(encodeIn(charset, `${words}.pdf`), '%')}`),
    { text: 'words', attachments: [{ filename: `${words}.pdf` }] },
  )

/** As Outlook and many others write it, against RFC 2047. */
const foldedFilename = (charset: string, words: string): Reading =>
  name(`${charset}-2047`, withFile(`filename="${bWord(charset, `${words}.pdf`)}"`), {
    text: 'words',
    attachments: [{ filename: `${words}.pdf` }],
  })

function withFile(parameter: Bytes): Buffer {
  const file = encoded(
    ['Content-Type: application/pdf', joined('Content-Disposition: attachment;\r\n ', parameter)],
    '%PDF-1.7',
    'base64',
  )
  return message(multipart('mixed', [plain('words'), file]))
}
