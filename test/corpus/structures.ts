import { type Sample, mail, multipart, part, sample } from './sample.ts'

const TEXT = part(['Content-Type: text/plain'], 'plain words')
const HTML = part(['Content-Type: text/html'], '<p>rich <b>words</b></p>')
const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')
const file = (fields: readonly string[], body = PNG): string =>
  part([...fields, 'Content-Transfer-Encoding: base64'], body)
const named = (value: string): string =>
  multipart('mixed', [
    TEXT,
    file(['Content-Type: application/octet-stream', `Content-Disposition: attachment; ${value}`]),
  ])
const attached = (name: string, disposition: string, filename: string): Sample =>
  sample(`a file name ${name}`, () => Buffer.from(named(disposition)), { attachments: [filename] })

const alternative = (parts: readonly string[]): string =>
  [
    'Content-Type: multipart/alternative; boundary=b2',
    '',
    ...parts.map((one) => `--b2\r\n${one}`),
    '--b2--',
  ].join('\r\n')

/** Messages as programs make them. */
export const STRUCTURES: readonly Sample[] = [
  sample('text alone', mail(['Subject: plain'], 'plain words'), {
    subject: 'plain',
    text: 'plain words',
    html: null,
    attachments: [],
    bounce: null,
  }),
  sample('HTML alone', mail(['Subject: h', 'Content-Type: text/html'], '<p>rich <b>words</b>'), {
    text: 'rich words',
    html: '<p>rich <b>words</b>',
  }),
  sample('an alternative', multipart('alternative', [TEXT, HTML]), {
    text: 'plain words',
    html: '<b>words</b>',
    attachments: [],
  }),
  sample('an alternative in a mixed one', multipart('mixed', [alternative([TEXT, HTML])]), {
    text: 'plain words',
    html: '<b>words</b>',
  }),
  sample(
    'an image in HTML',
    multipart('related', [
      part(['Content-Type: text/html'], '<img src="cid:logo@x">'),
      file(['Content-Type: image/png; name=logo.png', 'Content-ID: <logo@x>']),
    ]),
    { html: '<img src="cid:logo@x" />', attachments: ['logo.png'] },
  ),
  sample(
    'a calendar',
    multipart('alternative', [
      TEXT,
      part(['Content-Type: text/calendar; method=REQUEST'], 'BEGIN:VCALENDAR\r\nEND:VCALENDAR'),
    ]),
    { text: 'plain words', attachments: ['part-1.ics'] },
  ),
  sample(
    'a signature of PGP',
    multipart('signed; protocol="application/pgp-signature"', [
      TEXT,
      part(['Content-Type: application/pgp-signature; name=signature.asc'], '-----BEGIN PGP'),
    ]),
    { text: 'plain words', attachments: ['signature.asc'] },
  ),
  sample(
    'what PGP encrypted',
    multipart('encrypted; protocol="application/pgp-encrypted"', [
      part(['Content-Type: application/pgp-encrypted'], 'Version: 1'),
      part(['Content-Type: application/octet-stream; name=encrypted.asc'], '-----BEGIN PGP'),
    ]),
    { attachments: ['part-1.asc', 'encrypted.asc'] },
  ),
  sample('PGP in the text', mail(['Subject: p'], '-----BEGIN PGP MESSAGE-----\r\n\r\nabc'), {
    text: '-----BEGIN PGP MESSAGE-----',
  }),
  sample(
    'a signature of S/MIME',
    multipart('signed', [
      TEXT,
      file(['Content-Type: application/pkcs7-signature; name=smime.p7s']),
    ]),
    { text: 'plain words', attachments: ['smime.p7s'] },
  ),
  sample(
    'what S/MIME encrypted',
    mail(
      [
        'Subject: s',
        'Content-Type: application/pkcs7-mime; name=smime.p7m',
        'Content-Transfer-Encoding: base64',
      ],
      PNG,
    ),
    { attachments: ['smime.p7m'] },
  ),
  sample(
    'TNEF',
    multipart('mixed', [TEXT, file(['Content-Type: application/ms-tnef; name=winmail.dat'])]),
    {
      attachments: ['winmail.dat'],
    },
  ),
  sample(
    'a message in a message',
    multipart('mixed', [
      TEXT,
      part(['Content-Type: message/rfc822'], mail(['Subject: inner'], 'deep')),
    ]),
    { text: 'plain words', attachments: ['part-1.eml'] },
  ),
  sample('uuencoded words', mail(['Subject: uu'], 'begin 644 a.txt\r\n#86)C\r\n`\r\nend'), {
    text: 'begin 644 a.txt',
    attachments: [],
  }),
  sample('yEnc', mail(['Subject: y'], '=ybegin line=128 size=3 name=a\r\nabc\r\n=yend size=3'), {
    text: '=ybegin',
    attachments: [],
  }),
  sample(
    'flowed text',
    mail(['Subject: f', 'Content-Type: text/plain; format=flowed'], 'one \r\ntwo'),
    {
      text: 'one two',
    },
  ),
  sample(
    'text as an attachment',
    multipart('mixed', [
      TEXT,
      part(
        ['Content-Type: text/plain', 'Content-Disposition: attachment; filename=notes.txt'],
        'kept',
      ),
    ]),
    {
      text: 'plain words',
      attachments: ['notes.txt'],
    },
  ),
  sample('two texts', multipart('mixed', [TEXT, part(['Content-Type: text/plain'], 'a footer')]), {
    text: 'a footer',
  }),
  attached('as it is', 'filename="a b.pdf"', 'a b.pdf'),
  attached('in RFC 2231', "filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", 'Grüße.pdf'),
  attached(
    'in pieces',
    "filename*0*=utf-8''Gr%C3%BC; filename*1*=%C3%9Fe; filename*2=.pdf",
    'Grüße.pdf',
  ),
  attached('in an encoded word', 'filename="=?utf-8?Q?Gr=C3=BC=C3=9Fe=2Epdf?="', 'Grüße.pdf'),
  attached('with a path', 'filename="../../etc/passwd"', '_.._etc_passwd'),
  attached('with a path of Windows', String.raw`filename="C:\\temp\\a.exe"`, 'C__temp_a.exe'),
  attached('that turns around', "filename*=utf-8''a%E2%80%AEgpj.exe", 'a_gpj.exe'),
  attached('of a device', 'filename="NUL.txt"', '_NUL.txt'),
  attached('of points', 'filename="..."', 'part-1.bin'),
  attached('that is empty', 'filename=""', 'part-1.bin'),
  attached('with a NUL', "filename*=utf-8''a%00b.txt", 'a_b.txt'),
  attached('that is long', `filename="${'n'.repeat(400)}.pdf"`, `${'n'.repeat(250)}.pdf`),
]
