import { type Bytes, encoded, entity, message, multipart, plain } from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const text = readingsOf('text')
const LINES = 'begin 644 a.txt\r\n#86)C\r\n`\r\nend'

/** Texts as they are transferred, and what is no words of a person. */
export const TEXTS: readonly Reading[] = [
  text(
    'flowed',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8; format=flowed'],
        'one line that \r\ngoes on and \r\nends.\r\n\r\nAnother.\r\n',
      ),
    ),
    { text: 'one line that goes on and ends. Another.' },
  ),
  text(
    'flowed with delsp',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes'],
        '東京都 \r\n港区\r\n',
      ),
    ),
    { text: '東京都港区' },
  ),
  text(
    'flowed quotes',
    message(
      entity(
        ['Content-Type: text/plain; format=flowed'],
        '> quoted words \r\n> go on\r\nown words\r\n',
      ),
    ),
    { contains: ['> quoted words', 'go on', 'own words'] },
  ),
  text(
    'flowed signature',
    message(entity(['Content-Type: text/plain; format=flowed'], 'words\r\n-- \r\nAnn\r\n')),
    { contains: ['words', '--', 'Ann'] },
  ),
  text('uuencoded in the text', message(plain(`words\r\n${LINES}`)), {
    contains: ['words', 'begin 644 a.txt'],
    attachments: [],
  }),
  text('yenc', message(plain('=ybegin line=128 size=3 name=a\r\nabc\r\n=yend size=3')), {
    contains: ['=ybegin'],
    attachments: [],
  }),
  text('begin of a sentence', message(plain('begin 5 to 6 with words\r\nthat go on')), {
    text: 'begin 5 to 6 with words that go on',
  }),
  text(
    'quoted-printable of a person',
    message(
      encoded(
        ['Content-Type: text/plain; charset=utf-8'],
        'Größe = Maß '.repeat(20),
        'quoted-printable',
      ),
    ),
    { text: 'Größe = Maß '.repeat(20).trim() },
  ),
  text(
    'quoted-printable with soft ends in a character',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'],
        'Gr=C3=\r\n=B6=C3=9Fe',
      ),
    ),
    { text: 'Größe' },
  ),
  text(
    'quoted-printable with bytes',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'],
        'Größe =C3=A4',
      ),
    ),
    { text: 'Größe ä' },
  ),
  text(
    'base64 that is not',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'],
        'These are words!\r\n',
      ),
    ),
    { text: 'These are words!' },
  ),
  text(
    'base64 in lines of other lengths',
    message(
      entity(
        ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'],
        Buffer.from('Größe und Maß')
          .toString('base64')
          .replaceAll(/(.{5})/g, '$1\r\n'),
      ),
    ),
    { text: 'Größe und Maß' },
  ),
  text(
    'encoding in a multipart',
    message({
      ...multipart('mixed', [plain('words')]),
      fields: ['Content-Transfer-Encoding: base64', ...multipart('mixed', [plain('words')]).fields],
    }),
    { text: 'words' },
  ),
  text(
    'list mail',
    message(plain('words\r\n_____\r\nlist mailing list\r\n'), [
      'List-Id: <list.x.test>',
      'Subject: [list] words',
      'Reply-To: list@x.test',
    ]),
    { subject: '[list] words', contains: ['words', 'list mailing list'] },
  ),
  text('zeros', Buffer.concat([Buffer.from('Subject: z\r\n\r\n'), Buffer.alloc(3000)]), {
    subject: 'z',
    contains: [],
  }),
  ...asMany('cr', [], 'a\rb\rc', 'a b c'),
]

function asMany(what: string, fields: readonly Bytes[], content: string, words: string): Reading[] {
  return [
    text(
      `line ends of ${what}`,
      message(encoded(['Content-Type: text/plain; charset=utf-8'], content, 'base64'), fields),
      { text: words },
    ),
    text(
      `line ends of ${what} in quoted-printable`,
      message(
        encoded(['Content-Type: text/plain; charset=utf-8'], content, 'quoted-printable'),
        fields,
      ),
      { text: words },
    ),
  ]
}
