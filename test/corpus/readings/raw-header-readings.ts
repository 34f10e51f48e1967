import { encodeIn } from './charset-bytes.ts'
import {
  attached,
  type Bytes,
  encoded,
  type Entity,
  joined,
  message,
  multipart,
  plain,
} from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const raw = readingsOf('raw-header')
const latin1 = Buffer.from('X-Note: caf\xE9', 'latin1')
const utf8 = ['Subject: Grüße aus 東京', 'From: Jürgen Öz <j@shop.test>']
const expected = { subject: 'Grüße aus 東京', from: ['Jürgen Öz', 'j@shop.test'] } as const
const mail = (fields: readonly Bytes[], content: Entity = plain('words')): Buffer =>
  message(content, fields)

/** Charsets of fields that have none of their own: those of the text in a part, declared or detected. */
const OF_THE_TEXT = [
  ['gb18030', '会议', '会议改到星期三下午三点，请大家准时参加。'],
  ['big5', '會議', '會議改到星期三下午三點，請大家準時參加。'],
  ['euc-kr', '회의', '회의는 수요일 오후 세 시입니다. 모두 참석해 주십시오.'],
  ['euc-jp', '会議', '東京都港区の会議は明日です。よろしくお願いします。'],
  ['shift_jis', '会議', '東京都港区の会議は明日です。よろしくお願いします。'],
  ['windows-1250', 'Źródło', 'Zażółć gęślą jaźń w środę, proszę przyjść później.'],
  ['windows-1251', 'Счёт', 'Встреча будет в среду в три часа, просим не опаздывать.'],
  ['koi8-r', 'Счёт', 'Встреча будет в среду в три часа, просим не опаздывать.'],
] as const

const ofTheText = OF_THE_TEXT.flatMap(([charset, subject, words]) =>
  [`; charset=${charset}`, ''].map((parameter) => {
    const fields = (name: string, value: string): Buffer =>
      joined(`${name}: `, encodeIn(charset, value))
    const text = encoded([`Content-Type: text/plain${parameter}`], encodeIn(charset, words), '8bit')
    const file = encoded(
      [
        'Content-Type: application/pdf',
        joined(
          'Content-Disposition: attachment; filename="',
          encodeIn(charset, `${subject}.pdf`),
          '"',
        ),
      ],
      '%PDF',
      'base64',
    )
    return raw(
      `subject in ${charset} as a text that ${parameter === '' ? 'declares none' : 'declares it'}`,
      mail([fields('Subject', subject)], multipart('mixed', [text, file])),
      { subject, text: words, attachments: [{ filename: `${subject}.pdf` }] },
    )
  }),
)

/** Bytes beyond ASCII in fields: RFC 6532, and what was before it. Each field is decoded alone. */
export const RAW_HEADERS: readonly Reading[] = [
  raw('UTF-8', mail(utf8), expected),
  raw('UTF-8 beside a wrong byte', mail([latin1, ...utf8]), expected),
  raw('UTF-8 before a wrong byte', mail([...utf8, latin1]), expected),
  raw(
    'latin 1 subject beside UTF-8 from',
    mail([Buffer.from('Subject: Gr\xFC\xDFe', 'latin1'), 'From: Jürgen Öz <j@shop.test>']),
    { subject: 'Grüße', from: ['Jürgen Öz', 'j@shop.test'] },
  ),
  raw(
    'latin 1 from beside UTF-8 subject',
    mail(['Subject: Grüße aus 東京', Buffer.from('From: J\xFCrgen \xD6z <j@shop.test>', 'latin1')]),
    expected,
  ),
  raw('UTF-8 quoted in from', mail(['From: "Öz, Jürgen" <j@shop.test>']), {
    from: ['Öz, Jürgen', 'j@shop.test'],
  }),
  raw('UTF-8 folded', mail(['Subject: Grüße\r\n aus 東京']), { subject: 'Grüße aus 東京' }),
  raw('UTF-8 among encoded words', mail(['Subject: Grüße =?utf-8?Q?aus_K=C3=B6ln?=']), {
    subject: 'Grüße aus Köln',
  }),
  raw('UTF-8 in a local part', mail(['From: Ann <grüße@shop.test>']), {
    from: ['Ann', 'grüße@shop.test'],
  }),
  raw('UTF-8 in a domain', mail(['From: Ann <ann@bücher.test>']), {
    from: ['Ann', 'ann@bücher.test'],
  }),
  raw('UTF-8 in to and cc', mail(['To: Jürgen <j@one.test>', 'Cc: 東京 <t@one.test>']), {
    to: ['j@one.test'],
    cc: ['t@one.test'],
  }),
  raw('latin 1 subject', mail([joined('Subject: ', Buffer.from('caf\xE9 ', 'latin1'), 'x')]), {
    subject: 'café x',
  }),
  raw(
    'latin 1 in received',
    mail([Buffer.from('Received: from caf\xE9', 'latin1'), ...utf8]),
    expected,
  ),
  raw(
    'UTF-8 file name raw',
    mail(
      [],
      multipart('mixed', [plain('words'), attached('Grüße 東京.pdf', 'application/pdf', '%PDF')]),
    ),
    { attachments: [{ filename: 'Grüße 東京.pdf' }] },
  ),
  raw(
    'latin 1 file name raw',
    mail(
      [],
      multipart('mixed', [
        plain('words'),
        encoded(
          [
            'Content-Type: application/pdf',
            Buffer.from('Content-Disposition: attachment; filename="Gr\xFC\xDFe.pdf"', 'latin1'),
          ],
          '%PDF',
          'base64',
        ),
      ]),
    ),
    { attachments: [{ filename: 'Grüße.pdf' }] },
  ),
  raw('message in UTF-8', mail([...utf8, 'To: 東京 <tō@one.test>'], plain('Größe')), {
    ...expected,
    to: ['tō@one.test'],
    text: 'Größe',
  }),
  ...ofTheText,
]
