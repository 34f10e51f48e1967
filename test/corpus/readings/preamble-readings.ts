import { attached, type Bytes, type Entity, html, message, multipart, plain } from './entity.ts'
import { type ExpectedReading, type Reading, readingsOf } from './reading.ts'
import { pdf } from './structure-parts.ts'

const preambleReading = readingsOf('preamble')
const [blank, words] = [plain(' \r\n'), 'Größe in der Vorrede\r\n\r\nEve']
const notice = 'This is a multi-part message in MIME format.'
const around = (
  what: string,
  [subtype, ...parts]: readonly [string, ...Entity[]],
  outside: { readonly preamble?: Bytes; readonly epilogue?: Bytes },
  expected: ExpectedReading,
): Reading => preambleReading(what, message(multipart(subtype, parts, outside)), expected)
const inner = multipart('alternative', [blank, html('')], { preamble: 'inside' })
const koi8 = Buffer.from('f0d2c9d7c5d42c20ebd7c1', 'hex')

/** Messages that have text, or a notice of a mail program, around their parts. */
export const PREAMBLES: readonly Reading[] = [
  around(
    'and a blank text',
    ['mixed', blank],
    { preamble: words, epilogue: 'the end' },
    { text: words, html: null, attachments: [] },
  ),
  around(
    'and a blank alternative',
    ['alternative', blank, html('<p>&nbsp;</p>')],
    { preamble: words },
    { text: words, html: null, attachments: [] },
  ),
  around(
    'of nested multiparts',
    ['mixed', inner, blank],
    { preamble: words },
    { text: `${words} inside`, attachments: [] },
  ),
  around('blank and an epilogue', ['mixed', blank], { epilogue: words }, { text: words }),
  around('of koi8-r', ['mixed', blank], { preamble: koi8 }, { contains: ['Привет'] }),
  around('and a file', ['mixed', blank, pdf], { preamble: words }, { text: '' }),
  around(
    'of a program and a blank alternative',
    ['alternative', blank, html('')],
    { preamble: notice },
    { text: '', attachments: [] },
  ),
  around(
    'of a program and an encrypted part',
    ['encrypted', attached('a.asc', 'application/octet-stream', 'x')],
    { preamble: 'This is an OpenPGP/MIME encrypted message (RFC 4880 and 3156)' },
    { text: '', attachments: [{ filename: 'a.asc' }] },
  ),
]
