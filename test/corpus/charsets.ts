import { TextDecoder } from 'node:util'

import { type Sample, mail, sample } from './sample.ts'

/** Of one byte a letter: what of these words the charset has comes out as it went in. */
const SINGLE_BYTE: readonly (readonly [charset: string, words: string])[] = [
  ['iso-8859-2', 'Zażółć gęślą'],
  ['iso-8859-3', 'ĉirkaŭaĵo'],
  ['iso-8859-4', 'Šķērsām'],
  ['iso-8859-5', 'Привет'],
  ['iso-8859-6', 'مرحبا'],
  ['iso-8859-7', 'Καλημέρα'],
  ['iso-8859-8', 'שלום'],
  ['iso-8859-10', 'Þórður ķ'],
  ['iso-8859-13', 'Ačiū'],
  ['iso-8859-14', 'Ŵythnos'],
  ['iso-8859-15', 'Œuvre 5 €'],
  ['iso-8859-16', 'Știință'],
  ['windows-874', 'สวัสดี'],
  ['windows-1250', 'Příliš žluťoučký'],
  ['windows-1251', 'Добрый день'],
  ['windows-1252', 'Grüße – 5 €'],
  ['windows-1253', 'Γειά σου'],
  ['windows-1254', 'Günaydın ş'],
  ['windows-1255', 'שלום עולם'],
  ['windows-1256', 'صباح الخير'],
  ['windows-1257', 'Labrīt'],
  ['windows-1258', 'Đă'],
  ['koi8-r', 'Здравствуйте'],
  ['koi8-u', 'Привіт їжак'],
  ['ibm866', 'Почта'],
  ['macintosh', 'Ünïcødé'],
  ['us-ascii', 'Plain words'],
  ['utf-8', 'Grüße 日本 🎈'],
]

const MULTI_BYTE: readonly (readonly [charset: string, base64: string, words: string])[] = [
  ['shift_jis', 'k/qWew==', '日本'],
  ['euc-jp', 'xvzL3A==', '日本'],
  ['iso-2022-jp', 'GyRCRnxLXBsoQg==', '日本'],
  ['euc-kr', 'x9GxuQ==', '한국'],
  ['ks_c_5601-1987', 'x9GxuQ==', '한국'],
  ['gb2312', '1tC5+g==', '中国'],
  ['gbk', '1tC5+g==', '中国'],
  ['gb18030', '1tC5+g==', '中国'],
  ['big5', 'pKSw6g==', '中國'],
  ['cp932', 'k/qWew==', '日本'],
  ['utf-16le', 'RwByAPwA3wBlAA==', 'Grüße'],
  ['utf-16be', 'AEcAcgD8AN8AZQ==', 'Grüße'],
]

const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => string>> = {
  '8bit': (bytes) => bytes.toString('latin1'),
  base64: (bytes) => bytes.toString('base64'),
  'quoted-printable': quotedPrintable,
}

/** Text in every charset that there is a decoder for, in each transfer encoding, and subjects in them. */
export const CHARSETS: readonly Sample[] = [
  ...SINGLE_BYTE.flatMap(([charset, words]) =>
    Object.keys(ENCODINGS).map((encoding) => inEncoding(charset, encoding, words)),
  ),
  ...MULTI_BYTE.map(([charset, base64, words]) =>
    sample(
      `${charset} text in base64`,
      mail(
        [
          `Subject: =?${charset}?B?${base64}?=`,
          `Content-Type: text/plain; charset=${charset}`,
          'Content-Transfer-Encoding: base64',
        ],
        base64,
      ),
      { subject: words, text: words },
    ),
  ),
]

function inEncoding(charset: string, encoding: string, words: string): Sample {
  const bytes = encode(words, charset)
  const fields = [
    `Subject: =?${charset}?B?${bytes.toString('base64')}?=`,
    `Content-Type: text/plain; charset="${charset}"`,
    `Content-Transfer-Encoding: ${encoding}`,
  ]
  const body = ENCODINGS[encoding]?.(bytes) ?? ''
  return sample(`${charset} text in ${encoding}`, () => Buffer.from(mail(fields, body), 'latin1'), {
    subject: words,
    text: words,
  })
}

/** The bytes that the decoder of the charset makes these words of. */
function encode(words: string, charset: string): Buffer {
  if (charset === 'utf-8') return Buffer.from(words)
  const decoder = new TextDecoder(charset)
  const bytes = new Map(
    Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]),
  )
  return Buffer.from(
    Array.from(words, (letter) => {
      const byte = bytes.get(letter)
      if (byte === undefined) throw new Error(`${charset} has no ${letter}`)
      return byte
    }),
  )
}

function quotedPrintable(bytes: Buffer): string {
  return Array.from(bytes, (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  )
}
