import { randomBytes } from 'node:crypto'

const KINDS = 10

/**
 * Messages as a mailbox holds them: plain text in several charsets, HTML beside text, and attachments of a few kilobytes. The number
 * decides what it is, so that the same one can be named again.
 */
export function storedMessage(number: number): string {
  const head = [
    `From: =?utf-8?Q?J=C3=BCrgen_${number % 97}?= <juergen${number % 97}@a.test>`,
    `To: info@busy.test`,
    `Subject: =?utf-8?B?${Buffer.from(`Rechnung für März, Nr. ${number}`).toString('base64')}?=`,
    `Message-ID: <${number}@a.test>`,
    ...(number % 5 === 0 ? [] : [`In-Reply-To: <${number - (number % 5)}@a.test>`]),
    'MIME-Version: 1.0',
  ]
  return [...head, ...bodyOf(number), ''].join('\r\n')
}

function bodyOf(number: number): readonly string[] {
  const words = wordsOf(number)
  switch (number % KINDS) {
    case 0:
    case 1:
      return ['Content-Type: text/plain; charset=iso-8859-1', '', words]
    case 2:
    case 3:
    case 4:
      return alternative(words)
    case 5:
      return ['Content-Type: text/html; charset=utf-8', '', htmlOf(words)]
    case 6:
    case 7:
      return withFile(words, `report-${number}.csv`, 'text/csv', `a,b\r\n1,${number}\r\n`)
    case 8:
      return withFile(words, `scan-${number}.bin`, 'application/octet-stream', randomBytes(20_000))
    default:
      return [
        'Content-Type: text/plain; charset=utf-8',
        '',
        `${words}\r\n東京都港区の会議は明日です。`,
      ]
  }
}

const LINES = 12
const wordsOf = (number: number): string =>
  Array.from(
    { length: LINES },
    (_, line) => `Line ${line} of message ${number}, with word${(number * 7919 + line) % 30_000}.`,
  ).join('\r\n')

const htmlOf = (words: string): string =>
  `<html><body><table>${words
    .split('\r\n')
    .map((line) => `<tr><td style="color:#222">${line}</td><td><b>x</b></td></tr>`)
    .join('')}</table></body></html>`

const alternative = (words: string): readonly string[] => [
  'Content-Type: multipart/alternative; boundary=alt',
  '',
  '--alt',
  'Content-Type: text/plain; charset=utf-8',
  '',
  words,
  '--alt',
  'Content-Type: text/html; charset=utf-8',
  '',
  htmlOf(words),
  '--alt--',
]

const withFile = (
  words: string,
  name: string,
  type: string,
  bytes: string | Buffer,
): readonly string[] => [
  'Content-Type: multipart/mixed; boundary=mix',
  '',
  '--mix',
  'Content-Type: text/plain; charset=utf-8',
  '',
  words,
  '--mix',
  `Content-Type: ${type}; name=${name}`,
  `Content-Disposition: attachment; filename=${name}`,
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(bytes).toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
  '--mix--',
]
