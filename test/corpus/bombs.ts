import { type Sample, mail, multipart, part, sample } from './sample.ts'

const MIB = 1024 * 1024
const html = (body: string): string => mail(['Subject: bomb', 'Content-Type: text/html'], body)

const nested = (depth: number): string => {
  const opening = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=d${at}\r\n\r\n--d${at}\r\n`,
  )
  return `Subject: deep\r\n${opening.join('')}\r\nwords`
}

/** Messages that are made to cost more than they are worth. */
export const BOMBS: readonly Sample[] = [
  sample(
    'a header of a megabyte',
    () => mail(['Subject: big', `X-Long: ${'x'.repeat(MIB)}`], 'w'),
    {
      subject: 'big',
      status: 'failed',
    },
  ),
  sample(
    'a hundred thousand fields',
    () => mail(['Subject: many', ...Array.from({ length: 100_000 }, () => 'X: y')], 'w'),
    {
      subject: 'many',
    },
  ),
  sample('parts nested 10,000 deep', () => nested(10_000), { subject: 'deep', status: 'failed' }),
  sample('parts nested 40 deep', () => nested(40), { subject: 'deep', text: 'words' }),
  sample(
    '10,000 parts',
    () =>
      multipart(
        'mixed',
        Array.from({ length: 10_000 }, () => part(['Content-Type: application/x'], 'x')),
      ),
    {
      attachmentCount: 1000,
      truncated: true,
    },
  ),
  sample(
    'base64 of 18 MB',
    () =>
      mail(
        [
          'Subject: b64',
          'Content-Type: application/x; name=big.bin',
          'Content-Transfer-Encoding: base64',
        ],
        `${'A'.repeat(76)}\r\n`.repeat(240_000),
      ),
    {
      attachments: ['big.bin'],
    },
  ),
  sample(
    '20,000 flowed lines',
    () =>
      mail(
        ['Subject: flow', 'Content-Type: text/plain; format=flowed'],
        'some words \r\n'.repeat(20_000),
      ),
    {
      text: 'some words some words',
    },
  ),
  sample('100,000 nested elements', () => html(`${'<div>'.repeat(100_000)}deep`), { text: 'deep' }),
  sample('100,000 closing tags', () => html(`${'</div>'.repeat(100_000)}end`), { text: 'end' }),
  sample('tags that never close', () => html('<a'.repeat(200_000)), { subject: 'bomb' }),
  sample(
    '100,000 attributes',
    () => html(`<b ${Array.from({ length: 100_000 }, (_, at) => `a${at}=1`).join(' ')}>x</b>`),
    {
      html: '<b>x',
    },
  ),
  sample('a style of 200 KB', () => html(`<b style="${'color:red;'.repeat(20_000)}">x</b>`), {
    text: 'x',
  }),
  sample('HTML of 3 MB', () => html('<p>words</p>'.repeat(250_000)), {
    truncated: true,
    attachments: ['message.html'],
  }),
  sample('text of 3 MB', () => mail(['Subject: long'], 'words and words\r\n'.repeat(180_000)), {
    truncated: true,
    attachments: ['message.txt'],
  }),
  sample('one line of 3 MB', () => mail(['Subject: line'], 'x'.repeat(3 * MIB)), {
    truncated: true,
  }),
  sample(
    '20,000 encoded words',
    () => mail([`Subject: ${'=?utf-8?Q?=C3?= '.repeat(20_000)}`], 'w'),
    { text: 'w' },
  ),
  sample(
    '50,000 recipients',
    () => mail(['Subject: all', `Cc: ${'a@b.test, '.repeat(50_000)}`], 'w'),
    {
      subject: 'all',
      text: 'w',
    },
  ),
  sample(
    'quoted-printable of 5 MB',
    () =>
      mail(
        ['Subject: qp', 'Content-Transfer-Encoding: quoted-printable'],
        '=41=42=43=\r\n'.repeat(450_000),
      ),
    {
      text: 'ABCABC',
      truncated: true,
    },
  ),
  sample(
    'a thousand multiparts without a boundary',
    () =>
      multipart(
        'mixed',
        Array.from({ length: 1000 }, () => part(['Content-Type: multipart/mixed'], 'x')),
      ),
    {
      attachments: [],
    },
  ),
  sample(
    'a message in a message, forty times',
    () => {
      let inner = mail(['Subject: inmost'], 'w')
      for (let depth = 0; depth < 40; depth += 1)
        inner = mail(['Subject: outer', 'Content-Type: message/rfc822'], inner)
      return inner
    },
    { subject: 'outer', attachments: ['part-1.eml'] },
  ),
]
