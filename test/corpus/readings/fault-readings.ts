import { encoded, joined, message, plain } from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const fault = readingsOf('fault')

/** Files that are hardly messages. */
export const FAULTS: readonly Reading[] = [
  fault('no header', Buffer.from('Größe und Maß\r\n\r\nmore words\r\n'), {
    subject: '',
    text: 'Größe und Maß more words',
  }),
  fault('no header and one line', Buffer.from('just these words\r\n'), {
    subject: '',
    text: 'just these words',
  }),
  fault('blank line first', Buffer.from('\r\nwords\r\n'), { text: 'words' }),
  fault('header alone', Buffer.from('Subject: only\r\n'), {
    subject: 'only',
    text: '',
    attachments: [],
  }),
  fault('header without an end', Buffer.from('Subject: only'), { subject: 'only', text: '' }),
  fault('nothing', Buffer.from(''), { subject: '', text: '', attachments: [] }),
  fault(
    'mbox line first',
    Buffer.from('From eve@else.test Mon Nov  2 10:00:00 2026\r\nSubject: s\r\n\r\nwords'),
    { subject: 's', text: 'words' },
  ),
  fault('lf alone', Buffer.from('Subject: lf\nFrom: Ann <ann@x.test>\n\nGröße\nund Maß\n'), {
    subject: 'lf',
    from: ['Ann', 'ann@x.test'],
    text: 'Größe und Maß',
  }),
  fault(
    'line that is no field',
    Buffer.from('Subject: s\r\nno field here\r\nFrom: Ann <ann@x.test>\r\n\r\nwords'),
    { subject: 's', contains: ['words'] },
  ),
  fault(
    'blanks before a colon',
    Buffer.from('Subject : s\r\nFrom : Ann <ann@x.test>\r\n\r\nwords'),
    { subject: 's', from: ['Ann', 'ann@x.test'], text: 'words' },
  ),
  fault('nul in the text', message(plain('a\0b')), { text: 'a\uFFFDb' }),
  fault(
    'one wrong byte in UTF-8',
    message(plain(joined('Größe ', Buffer.of(0xff), ' und Maß 東京'))),
    { text: 'Größe \uFFFD und Maß 東京' },
  ),
  fault('cut in a character', message(plain(Buffer.from('Größe 東京').subarray(0, -1))), {
    contains: ['Größe 東'],
  }),
  fault(
    'line of a megabyte',
    message(
      encoded(
        ['Content-Type: text/plain; charset=utf-8'],
        `${'word '.repeat(80_000)}end`,
        'base64',
      ),
    ),
    { contains: ['word word'], attachments: [] },
  ),
  fault('long line of 8bit', message(plain(`ü${'x'.repeat(20_000)} end`)), { contains: ['end'] }),
  fault(
    'long header',
    message(plain('words'), [`X-Long: ${'x'.repeat(100_000)}`, 'Subject: behind it']),
    { subject: 'behind it', text: 'words' },
  ),
  fault(
    'many fields',
    message(plain('words'), [
      ...Array.from({ length: 2000 }, (_, at) => `X-Field-${at}: y`),
      'Subject: behind them',
    ]),
    { subject: 'behind them', text: 'words' },
  ),
]
