import { type Bytes, encoded, joined, message, multipart, plain } from './entity.ts'
import { type ExpectedAttachment, type Reading, readingsOf } from './reading.ts'

const name = readingsOf('filename')
const disposition = (what: string, parameters: string, filename: string): Reading =>
  named(
    what,
    ['Content-Type: application/pdf', `Content-Disposition: attachment; ${parameters}`],
    filename,
  )

/** Names of files in every form that programs write them in. */
export const FILENAMES: readonly Reading[] = [
  disposition('quoted', 'filename="a b.pdf"', 'a b.pdf'),
  disposition('unquoted', 'filename=a.pdf', 'a.pdf'),
  disposition('unquoted with blanks', 'filename=a b c.pdf', 'a b c.pdf'),
  disposition('escaped quotes', String.raw`filename="a \"b\" c.pdf"`, 'a _b_ c.pdf'),
  disposition('semicolon in quotes', 'filename="a; b.pdf"; size=3', 'a; b.pdf'),
  disposition('parenthesis', 'filename="a (1).pdf"', 'a (1).pdf'),
  disposition('parenthesis unquoted', 'filename=a(1).pdf', 'a(1).pdf'),
  disposition('upper case parameter', 'FILENAME="a.pdf"', 'a.pdf'),
  disposition('blanks around equals', 'filename = "a.pdf"', 'a.pdf'),
  disposition('2231', "filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", 'Grüße.pdf'),
  disposition('2231 with a language', "filename*=utf-8'de'Gr%C3%BC%C3%9Fe.pdf", 'Grüße.pdf'),
  disposition('2231 in quotes', `filename*="utf-8''Gr%C3%BC%C3%9Fe.pdf"`, 'Grüße.pdf'),
  disposition('2231 without a charset', "filename*=''Gr%C3%BC%C3%9Fe.pdf", 'Grüße.pdf'),
  disposition('2231 of latin 1', "filename*=iso-8859-1''Gr%FC%DFe.pdf", 'Grüße.pdf'),
  disposition(
    '2231 wins against plain',
    `filename="Gr__e.pdf"; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf`,
    'Grüße.pdf',
  ),
  disposition(
    '2231 wins whatever comes first',
    `filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf; filename="Gr__e.pdf"`,
    'Grüße.pdf',
  ),
  disposition('2231 continued', `filename*0="a long "; filename*1="name.pdf"`, 'a long name.pdf'),
  disposition(
    '2231 continued and folded',
    `\r\n filename*0="a long ";\r\n filename*1="name.pdf"`,
    'a long name.pdf',
  ),
  disposition(
    '2231 continued and encoded',
    "filename*0*=utf-8''Gr%C3%BC; filename*1*=%C3%9Fe; filename*2=.pdf",
    'Grüße.pdf',
  ),
  disposition(
    '2231 continued inside a character',
    "filename*0*=utf-8''Gr%C3; filename*1*=%BC%C3%9Fe.pdf",
    'Grüße.pdf',
  ),
  disposition('2231 continued out of order', 'filename*1="b.pdf"; filename*0="a"', 'ab.pdf'),
  disposition(
    '2231 continued twelve times',
    Array.from({ length: 12 }, (_, at) => `filename*${at}=${String.fromCharCode(97 + at)}`).join(
      '; ',
    ),
    'abcdefghijkl',
  ),
  disposition('percent in a plain name', 'filename="100%25.pdf"', '100%25.pdf'),
  disposition('2047 in quotes', 'filename="=?utf-8?Q?Gr=C3=BC=C3=9Fe.pdf?="', 'Grüße.pdf'),
  disposition('2047 unquoted', 'filename==?utf-8?B?R3LDvMOfZS5wZGY=?=', 'Grüße.pdf'),
  disposition(
    '2047 in two words',
    'filename="=?utf-8?Q?Gr=C3=BC?= =?utf-8?Q?=C3=9Fe.pdf?="',
    'Grüße.pdf',
  ),
  disposition(
    '2047 folded',
    'filename="=?utf-8?Q?Gr=C3=BC?=\r\n =?utf-8?Q?=C3=9Fe.pdf?="',
    'Grüße.pdf',
  ),
  disposition(
    '2047 with an extension behind',
    'filename="=?utf-8?Q?Gr=C3=BC=C3=9Fe?=.pdf"',
    'Grüße.pdf',
  ),
  disposition(
    '2047 of iso-2022-jp',
    'filename="=?iso-2022-jp?B?GyRCRnxLXBsoQi5wZGY=?="',
    '日本.pdf',
  ),
  disposition('path', 'filename="../../etc/passwd"', '_.._etc_passwd'),
  disposition('turned around', "filename*=utf-8''a%E2%80%AEgpj.exe", 'a_gpj.exe'),
  disposition('quote not closed', 'filename="a.pdf', 'a.pdf'),
  disposition('empty', 'filename=""', 'part-1.pdf'),
  disposition('nfd', "filename*=utf-8''Gru%CC%88n.pdf", 'Grün.pdf'),
  named('of the type alone', ['Content-Type: application/pdf; name="a.pdf"'], 'a.pdf'),
  named(
    'of the type in 2231',
    ["Content-Type: application/pdf; name*=utf-8''Gr%C3%BC%C3%9Fe.pdf"],
    'Grüße.pdf',
  ),
  named(
    'of the type in 2047',
    ['Content-Type: application/pdf; name="=?utf-8?Q?Gr=C3=BC=C3=9Fe.pdf?="'],
    'Grüße.pdf',
  ),
  named(
    'of both',
    [
      'Content-Type: application/pdf; name="type.pdf"',
      'Content-Disposition: attachment; filename="disposition.pdf"',
    ],
    'disposition.pdf',
  ),
  named(
    'of a file that is inline',
    ['Content-Type: application/pdf', 'Content-Disposition: inline; filename="a.pdf"'],
    'a.pdf',
  ),
  named(
    'disposition without a type',
    ['Content-Type: application/pdf', 'Content-Disposition: filename="a.pdf"'],
    'a.pdf',
  ),
  named('none', ['Content-Type: application/pdf', 'Content-Disposition: attachment'], 'part-1.pdf'),
]

function named(what: string, fields: readonly Bytes[], filename: string): Reading {
  const content = Buffer.from('%PDF-1.7')
  const expected: ExpectedAttachment = { filename, contentType: 'application/pdf', content }
  return name(
    what,
    message(multipart('mixed', [plain('words'), encoded(fields, joined(content), 'base64')])),
    { text: 'words', attachments: [expected] },
  )
}
