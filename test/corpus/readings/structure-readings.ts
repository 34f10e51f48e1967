import {
  attached,
  encoded,
  type Entity,
  entity,
  html,
  message,
  multipart,
  plain,
} from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'
import {
  PNG,
  rich,
  image,
  pictured,
  pdf,
  notes,
  LOGO,
  PDF,
  NOTES,
  BOTH,
  calendar,
  ICS,
  alternative,
} from './structure-parts.ts'

const structure = readingsOf('structure')

/** Messages as Apple Mail, Outlook, Gmail, Exchange, Thunderbird and lists make them. */
export const STRUCTURES: readonly Reading[] = [
  structure('gmail alternative', message(alternative(rich)), { ...BOTH, attachments: [] }),
  structure('gmail with a file', message(multipart('mixed', [alternative(rich), pdf])), {
    ...BOTH,
    attachments: [PDF],
  }),
  structure('gmail with a picture', message(multipart('related', [alternative(pictured), image])), {
    ...BOTH,
    attachments: [LOGO],
  }),
  structure(
    'outlook with a picture',
    message(
      multipart('related', [alternative(pictured), image], {
        parameters: '; type="multipart/alternative"',
      }),
    ),
    { ...BOTH, attachments: [LOGO] },
  ),
  structure(
    'outlook with a picture and a file',
    message(multipart('mixed', [multipart('related', [alternative(pictured), image]), pdf])),
    { ...BOTH, attachments: [LOGO, PDF] },
  ),
  structure(
    'thunderbird related in an alternative',
    message(alternative(multipart('related', [pictured, image]))),
    { ...BOTH, attachments: [LOGO] },
  ),
  structure(
    'apple related and mixed in an alternative',
    message(alternative(multipart('mixed', [rich, pdf]))),
    { ...BOTH, attachments: [PDF] },
  ),
  structure(
    'apple texts around a file',
    message(multipart('mixed', [plain('before'), pdf, plain('after')])),
    { text: 'before after', html: null, attachments: [PDF] },
  ),
  structure(
    'apple text file inline',
    message(multipart('mixed', [plain('before'), notes, plain('after')])),
    { text: 'before after', attachments: [NOTES] },
  ),
  structure('apple text file inline alone', message(notes), { attachments: [NOTES] }),
  structure(
    'apple html around a picture',
    message(alternative(multipart('mixed', [html('<p>before</p>'), image, html('<p>after</p>')]))),
    { text: 'plain words', html: 'before after', attachments: [LOGO] },
  ),
  structure(
    'apple html file inline',
    message(
      multipart('mixed', [
        plain('before'),
        encoded(
          [
            'Content-Type: text/html; name="page.html"',
            'Content-Disposition: inline; filename="page.html"',
          ],
          '<p>page</p>',
          '7bit',
        ),
      ]),
    ),
    {
      text: 'before',
      html: null,
      attachments: [{ filename: 'page.html', content: Buffer.from('<p>page</p>') }],
    },
  ),
  structure(
    'text with a name but no disposition',
    message(
      multipart('mixed', [
        plain('before'),
        encoded(['Content-Type: text/plain; name="notes.txt"'], 'the notes\r\n', '7bit'),
      ]),
    ),
    { attachments: [NOTES], contains: ['before'] },
  ),
  structure(
    'exchange text and html mixed',
    message(multipart('mixed', [plain('first'), html('<p>second</p>')])),
    { contains: ['first', 'second'], html: 'second' },
  ),
  structure(
    'list footer behind a text',
    message(multipart('mixed', [plain('words'), plain('-- \r\nthe list')])),
    { text: 'words -- the list', attachments: [] },
  ),
  structure(
    'list footer behind an alternative',
    message(multipart('mixed', [alternative(rich), plain('the list')])),
    { contains: ['plain words', 'the list'], html: 'rich words', attachments: [] },
  ),
  structure(
    'alternative with an empty text',
    message(multipart('alternative', [plain(''), rich])),
    { text: 'rich words', html: 'rich words' },
  ),
  structure(
    'alternative with a blank text',
    message(multipart('alternative', [plain(' \r\n\u00A0\r\n'), rich])),
    { text: 'rich words', html: 'rich words' },
  ),
  structure('alternative of html alone', message(multipart('alternative', [rich])), {
    text: 'rich words',
    html: 'rich words',
  }),
  structure('alternative of text alone', message(alternative()), {
    text: 'plain words',
    html: null,
  }),
  structure(
    'alternative the wrong way round',
    message(multipart('alternative', [rich, plain('plain words')])),
    BOTH,
  ),
  structure('alternative with an empty html', message(alternative(html(''))), {
    text: 'plain words',
  }),
  structure('html alone', message(rich), {
    text: 'rich words',
    html: 'rich words',
    attachments: [],
  }),
  structure('html alone with a file', message(multipart('mixed', [rich, pdf])), {
    html: 'rich words',
    attachments: [PDF],
  }),
  structure('related of html alone', message(multipart('related', [pictured, image])), {
    html: 'rich words',
    attachments: [LOGO],
  }),
  structure(
    'picture without a content id',
    message(
      multipart('mixed', [
        plain('words'),
        encoded(['Content-Type: image/png; name="logo.png"'], PNG, 'base64'),
      ]),
    ),
    { text: 'words', attachments: [LOGO] },
  ),
  structure('files alone', message(multipart('mixed', [pdf, image])), { attachments: [PDF, LOGO] }),
  structure('unknown subtype', message(multipart('x-unknown', [plain('words'), pdf])), {
    text: 'words',
    attachments: [PDF],
  }),
  structure('invitation', message(alternative(rich, calendar())), {
    ...BOTH,
    attachments: [{ filename: 'part-1.ics', contentType: 'text/calendar', content: ICS }],
  }),
  structure(
    'invitation with a file of it',
    message(
      multipart('mixed', [
        alternative(rich, calendar()),
        calendar(['Content-Disposition: attachment; filename="invite.ics"']),
      ]),
    ),
    {
      ...BOTH,
      attachments: [{ filename: 'part-1.ics' }, { filename: 'invite.ics', content: ICS }],
    },
  ),
  structure('invitation alone', message(calendar()), {
    attachments: [{ filename: 'part-1.ics', content: ICS }],
  }),
  structure(
    'amp',
    message(
      multipart('alternative', [
        plain('plain words'),
        encoded(['Content-Type: text/x-amp-html; charset=utf-8'], '<p>amp</p>', '7bit'),
        rich,
      ]),
    ),
    { ...BOTH, attachments: [] },
  ),
  structure('deep', message(deep(12)), { text: 'plain words', html: 'rich words' }),
  structure('part without a header', message(multipart('mixed', [entity([], 'words'), pdf])), {
    text: 'words',
    attachments: [PDF],
  }),
  structure(
    'empty part',
    message(multipart('mixed', [plain('words'), entity(['Content-Type: text/plain'], '')])),
    { text: 'words', attachments: [] },
  ),
  structure(
    'preamble and epilogue',
    message(
      multipart('mixed', [plain('words')], {
        preamble: 'This is a message in MIME format.',
        epilogue: 'and the end',
      }),
    ),
    { text: 'words', lacks: ['MIME format', 'the end'] },
  ),
  structure(
    'tnef',
    message(
      multipart('mixed', [plain('words'), attached('winmail.dat', 'application/ms-tnef', PNG)]),
    ),
    { text: 'words', attachments: [{ filename: 'winmail.dat', content: PNG }] },
  ),
  structure(
    'appledouble',
    message(
      multipart('mixed', [
        plain('words'),
        multipart('appledouble', [attached('a', 'application/applefile', PNG), pdf]),
      ]),
    ),
    { text: 'words', attachments: [{ filename: 'a', content: PNG }, PDF] },
  ),
  structure(
    'external body',
    message(
      multipart('mixed', [
        plain('words'),
        entity(
          ['Content-Type: message/external-body; access-type=URL; URL="https://x.test/a"'],
          'Content-Type: application/pdf\r\n\r\n',
        ),
      ]),
    ),
    { text: 'words', html: null },
  ),
  structure(
    'many files',
    message(
      multipart('mixed', [
        plain('words'),
        ...Array.from({ length: 40 }, (_, at) => attached(`f${at}.txt`, 'text/plain', `${at}\r\n`)),
      ]),
    ),
    {
      text: 'words',
      attachments: Array.from({ length: 40 }, (_, at) => ({
        filename: `f${at}.txt`,
        content: Buffer.from(`${at}\r\n`),
      })),
    },
  ),
  ...kindsOfText(),
]

function deep(depth: number): Entity {
  let content = alternative(rich)
  for (let at = 0; at < depth; at += 1) content = multipart('mixed', [content])
  return content
}

/** Texts of types that are neither plain nor HTML, and are all there is. */
function kindsOfText(): Reading[] {
  const alone = (type: string, content: string): Reading =>
    structure(
      `alone ${type}`,
      message(encoded([`Content-Type: ${type}; charset=utf-8`], content, '8bit')),
      { contains: ['Größe'], attachments: [] },
    )
  return [
    alone('text/markdown', '# Größe\r\n'),
    alone('text/x-unknown', 'Größe\r\n'),
    alone('text/enriched', '<bold>Größe</bold>\r\n'),
  ]
}
