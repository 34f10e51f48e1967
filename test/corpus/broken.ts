import { type Sample, mail, multipart, part, sample } from './sample.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Messages as they should not be, and are. */
export const BROKEN: readonly Sample[] = [
  sample('nothing', '', { subject: '', text: '', attachments: [] }),
  sample('one empty line', '\r\n', { subject: '', text: '' }),
  sample('a header without a body', 'Subject: only', { subject: 'only', text: '' }),
  sample('a body without a header', '\r\nwords', { subject: '', text: 'words' }),
  sample('bare line feeds', 'Subject: lf\nFrom: a@b.test\n\nwords\n', {
    subject: 'lf',
    text: 'words',
  }),
  sample('lines that are no field', 'Subject: s\r\nno field here\r\n\r\nwords', {
    subject: 's',
    text: 'words',
  }),
  sample('an mbox line first', 'From eve Mon\r\nSubject: s\r\n\r\nwords', {
    subject: 's',
    text: 'words',
  }),
  sample('a NUL in the text', mail(['Subject: n'], 'a\0b'), { text: 'a\uFFFDb' }),
  sample('a NUL in the subject', mail(['Subject: a\0b'], ''), { subject: 'a\uFFFDb' }),
  sample('raw UTF-8 in the header', mail(['Subject: Grüße'], ''), { subject: 'Grüße' }),
  sample('raw Latin 1 in the header', () => latin1(mail(['Subject: Gr\xFC\xDFe'], '')), {
    subject: 'Grüße',
  }),
  sample('no charset and UTF-8', mail(['Subject: c'], 'Grüße'), { text: 'Grüße' }),
  sample('no charset and Latin 1', () => latin1(mail(['Subject: c'], 'Gr\xFC\xDFe')), {
    text: 'Grüße',
  }),
  sample(
    'UTF-8 that is none',
    () => latin1(mail(['Subject: c', 'Content-Type: text/plain; charset=utf-8'], 'Gr\xFC\xDFe')),
    { text: 'Grüße' },
  ),
  sample(
    'UTF-8 with one wrong byte',
    () => Buffer.concat([Buffer.from(mail(['Subject: c'], 'Grüße ')), Buffer.of(0xff)]),
    { text: 'Grüße \uFFFD' },
  ),
  sample(
    'a charset that nobody knows',
    () =>
      latin1(mail(['Subject: c', 'Content-Type: text/plain; charset=x-klingon'], 'Gr\xFC\xDFe')),
    { text: 'Grüße' },
  ),
  sample(
    'UTF-7 is sanitised as what it means',
    mail(
      ['Subject: u', 'Content-Type: text/html; charset=utf-7'],
      '+ADw-b+AD4-bold+ADw-/b+AD4- +ADw-script+AD4-alert(1)',
    ),
    { html: '<b>bold</b>', text: 'bold' },
  ),
  sample(
    'a multipart without a boundary',
    mail(['Subject: b', 'Content-Type: multipart/mixed'], 'words'),
    { text: 'words', attachments: [] },
  ),
  sample(
    'a boundary that never comes',
    mail(['Subject: b', 'Content-Type: multipart/mixed; boundary=never'], 'words'),
    { text: 'words', attachments: [] },
  ),
  sample(
    'a boundary that is not closed',
    mail(['Subject: b', 'Content-Type: multipart/mixed; boundary=x'], '--x\r\n\r\nwords'),
    { text: 'words' },
  ),
  sample(
    'an empty boundary',
    mail(['Subject: b', 'Content-Type: multipart/mixed; boundary=""'], 'w'),
    { text: 'w', attachments: [] },
  ),
  sample('no part at all', multipart('mixed', []), { text: '', attachments: [] }),
  sample(
    'base64 with junk in it',
    mail(['Subject: b', 'Content-Transfer-Encoding: base64'], 'd29y\r\n!!ZHM='),
    { text: 'words' },
  ),
  sample('base64 cut short', mail(['Subject: b', 'Content-Transfer-Encoding: base64'], 'd29yZHM'), {
    text: 'words',
  }),
  sample(
    'quoted-printable that is broken',
    mail(['Subject: q', 'Content-Transfer-Encoding: quoted-printable'], 'a=ZZb=\r\nc='),
    { text: 'a=ZZbc' },
  ),
  sample(
    'an encoding that nobody knows',
    mail(['Subject: e', 'Content-Transfer-Encoding: x-none'], 'words'),
    {
      text: 'words',
    },
  ),
  sample('a content type that is none', mail(['Subject: t', 'Content-Type: ;;;'], 'words'), {
    subject: 't',
  }),
  sample('two subjects', mail(['Subject: first', 'Subject: second'], ''), { subject: 'first' }),
  sample(
    'two content types',
    mail(['Subject: c', 'Content-Type: text/plain', 'Content-Type: text/html'], '<b>w'),
    {
      text: '<b>w',
      html: null,
    },
  ),
  sample(
    'a type that would end a header',
    multipart('mixed', [part(['Content-Type: a/b"\r\n x: y'], 'w')]),
    {
      attachmentCount: 1,
    },
  ),
  sample(
    'an encoded word cut in a letter',
    mail(['Subject: =?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9Fe?='], ''),
    {
      subject: 'Grüße',
    },
  ),
  sample('an encoded word without an end', mail(['Subject: =?utf-8?Q?abc'], ''), {
    subject: '=?utf-8?Q?abc',
  }),
  sample('a group without members', mail(['Subject: g', 'Cc: undisclosed-recipients:;'], ''), {
    subject: 'g',
  }),
  sample('half a surrogate pair', mail(['Subject: s', 'Content-Type: text/html'], '<p>&#xD800;w'), {
    html: '<p>',
  }),
  sample(
    'a body of zeros',
    () => Buffer.concat([Buffer.from(mail(['Subject: z'])), Buffer.alloc(5000)]),
    {
      subject: 'z',
    },
  ),
  sample(
    'noise',
    () => Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7919) % 256)),
    {},
  ),
]
