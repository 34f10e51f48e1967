import { encodeIn } from './charset-bytes.ts'
import { encoded, message } from './entity.ts'
import { GERMAN, JAPANESE } from './languages.ts'
import { type Reading, readingsOf } from './reading.ts'

const label = readingsOf('charset-label')

/** Labels as programs write them: right, wrong, unknown, decorated, or missing. */
export const LABELS: readonly Reading[] = [
  ...labelled('utf-8', GERMAN, [
    'charset=us-ascii',
    'charset=iso-8859-1',
    'charset=windows-1252',
    'charset=iso-8859-15',
    'charset=koi8-r',
    'charset=x-unknown',
    'charset=unknown-8bit',
    'charset=utf8',
    'charset=UTF8MB4',
    'charset=utf-8mb4',
    "charset='utf-8'",
    'charset="utf-8',
    'charset = "utf-8"',
    'charset="utf-8;"',
    'charset="utf-8" (Unicode)',
    'charset=',
    'charset=""',
    'charset=default',
    'charset=unicode-1-1-utf-8',
    'charset=utf-8//TRANSLIT',
    'charset=utf-8; charset=iso-8859-1',
    'charset=iso-8859-1; charset=utf-8',
    "charset*=us-ascii'en'utf-8",
    'charset=7bit',
    'charset=ascii',
    'charset=ansi_x3.4-1968',
    'charset=iso-8859-8-i',
    '',
  ]),
  ...labelled('windows-1252', `${GERMAN} – 5 €`, [
    'charset=utf-8',
    'charset=us-ascii',
    'charset=iso-8859-1',
    'charset=latin1',
    'charset=cp1252',
    'charset=windows1252',
    'charset=CP-1252',
    'charset=x-klingon',
    'charset=ISO_8859-1:1987',
    '',
  ]),
  ...labelled('iso-2022-jp', JAPANESE, [
    'charset=us-ascii',
    'charset=utf-8',
    'charset="_iso-2022-jp$ESC"',
    'charset=csISO2022JP',
    '',
  ]),
  ...labelled('shift_jis', JAPANESE, [
    'charset=x-sjis',
    'charset=cp932',
    'charset=ms_kanji',
    'charset=windows-31j',
  ]),
  ...labelled('euc-jp', JAPANESE, ['charset=x-euc-jp', 'charset=eucJP']),
  ...labelled('gbk', '会议改到星期三', ['charset=cp936', 'charset=GB_2312-80']),
  ...labelled('big5', '會議改到星期三', ['charset=cn-big5', 'charset=x-x-big5']),
  ...labelled('euc-kr', '회의는 수요일', ['charset=ks_c_5601-1987', 'charset=cp949']),
  ...marked(),
]

function labelled(charset: string, words: string, labels: readonly string[]): Reading[] {
  return labels.map((parameter) => {
    const type = parameter === '' ? 'text/plain' : `text/plain; ${parameter}`
    return label(
      `${charset} as ${parameter === '' ? 'nothing' : parameter.replaceAll('_', ' ')}`,
      message(encoded([`Content-Type: ${type}`], encodeIn(charset, words), '8bit')),
      { text: words, html: null },
    )
  })
}

/** What a text says of its own charset. */
function marked(): Reading[] {
  const meta = (charset: string, tag: string, words: string): Buffer =>
    encodeIn(charset, `<html><head>${tag}</head><body><p>${words}</p></body></html>`)
  const http = (charset: string) =>
    `<meta http-equiv="Content-Type" content="text/html; charset=${charset}">`
  const page = (what: string, type: string, content: Buffer, words: string): Reading =>
    label(what, message(encoded([`Content-Type: ${type}`], content, '8bit')), {
      html: words,
      contains: [words],
    })
  const russian = 'Встреча в среду'
  const utf8 = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from(GERMAN)])
  const utf16 = Buffer.concat([Buffer.of(0xff, 0xfe), encodeIn('utf-16le', GERMAN)])
  const text = (what: string, type: string, content: Buffer): Reading =>
    label(what, message(encoded([`Content-Type: ${type}`], content, 'base64')), { text: GERMAN })
  return [
    page(
      'meta http-equiv of koi8-r',
      'text/html',
      meta('koi8-r', http('koi8-r'), russian),
      russian,
    ),
    page(
      'meta charset of windows-1251',
      'text/html',
      meta('windows-1251', '<meta charset=windows-1251>', russian),
      russian,
    ),
    page(
      'meta charset of shift-jis',
      'text/html',
      meta('shift_jis', '<meta charset="Shift_JIS">', JAPANESE),
      JAPANESE,
    ),
    page(
      'meta that a declared charset wins against',
      'text/html; charset=windows-1251',
      meta('windows-1251', http('iso-8859-1'), russian),
      russian,
    ),
    page(
      'meta of latin 1 over UTF-8',
      'text/html',
      meta('utf-8', http('iso-8859-1'), russian),
      russian,
    ),
    page(
      'meta with a declared charset that is unknown',
      'text/html; charset=x-none',
      meta('windows-1251', http('windows-1251'), russian),
      russian,
    ),
    text('byte order mark of UTF-8', 'text/plain', utf8),
    text('byte order mark of UTF-8 as latin 1', 'text/plain; charset=iso-8859-1', utf8),
    text('byte order mark of UTF-16', 'text/plain', utf16),
    text('byte order mark of UTF-16 as utf-16', 'text/plain; charset=utf-16', utf16),
  ]
}
