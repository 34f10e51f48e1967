import { Buffer } from 'node:buffer'

import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'

import { mail, multipart, part } from '#corpus/sample.ts'

import { parseMail } from './parse-mail.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')
const TEXT = part(['Content-Type: text/plain'], 'words')

function read(message: string | Buffer) {
  const bytes = typeof message === 'string' ? Buffer.from(message) : message
  const { outline, contents } = parseMail(bytes)
  const [text, html, ...files] = contents.map((content) => Buffer.from(content))
  return {
    text: text?.toString() ?? '',
    html: outline.htmlBytes === null ? null : html?.toString().trimEnd(),
    names: outline.attachments.map(({ filename }) => filename),
    files: files.map((file) => file.toString('latin1')),
    outline,
  }
}

const attached = (encoding: string, body: string, type = 'text/csv; charset=utf-16'): string =>
  multipart('mixed', [
    TEXT,
    part(
      [
        `Content-Type: ${type}`,
        'Content-Disposition: attachment; filename=a.csv',
        `Content-Transfer-Encoding: ${encoding}`,
      ],
      body,
    ),
  ])

describe('an attachment', () => {
  test.each([
    ['7bit', 'a,b\r\n1,2', 'a,b\r\n1,2'],
    ['7bit', 'a,b\r\n1,2\r\n', 'a,b\r\n1,2\r\n'],
    ['7bit', 'a\n\rb\0\r\r\n\n', 'a\n\rb\0\r\r\n\n'],
    ['8bit', '\u00e9\r\n\tx  \r\n', '\u00c3\u00a9\r\n\tx  \r\n'],
    ['binary', '=41=\r\n', '=41=\r\n'],
    ['quoted-printable', 'a,b=0A=\r\n1,2\r\n', 'a,b\n1,2\r\n'],
    ['base64', 'YSxiDQox', 'a,b\r\n1'],
    ['x-none', 'a\r\n', 'a\r\n'],
    ['7bit', '', ''],
    ['8bit', '--b1x\r\n--\r\n', '--b1x\r\n--\r\n'],
  ])('in %s is the bytes that were sent: %j', (encoding, body, expected) => {
    for (const type of ['text/csv; charset=utf-16', 'text/plain; format=flowed', 'text/calendar']) {
      const { files, names, text } = read(attached(encoding, body, type))
      expect({ files, names, text }).toEqual({
        files: [expected],
        names: ['a.csv'],
        text: 'words\n',
      })
    }
  })
})

describe('a text', () => {
  const named = (fields: readonly string[]): string =>
    multipart('mixed', [TEXT, part(fields, 'notes'), part(['Content-Type: text/plain'], 'end')])

  test.each([
    ['Content-Type: text/plain', 'Content-Disposition: inline; filename="notes.txt"'],
    ['Content-Type: text/plain; name=notes.txt', 'X: y'],
    ['Content-Type: text/plain; name=notes.txt', 'Content-Disposition: inline'],
    ['X: y', "Content-Disposition: inline; filename*=utf-8''notes.txt"],
    ['Content-Type: text; name=notes.txt', 'Content-Disposition: attachment'],
  ])('with a name among others is a file: %s, %s', (...fields) => {
    const { text, names, outline } = read(named(fields))
    expect({ text, names }).toEqual({ text: 'words\n\nend\n', names: ['notes.txt'] })
    expect(outline.attachments[0]?.inline).toBe(false)
  })

  test.each([
    ['alone', mail(['Content-Type: text/plain; name=notes.txt'], 'words')],
    [
      'in an alternative',
      multipart('alternative', [
        part(['Content-Type: text/plain; name=a.txt'], 'words'),
        part(['Content-Type: text/html; name=a.html'], '<b>words</b>'),
      ]),
    ],
    [
      'in what is signed',
      multipart('signed', [
        part(['Content-Type: text/plain; name=a.txt'], 'words'),
        part(['Content-Type: application/pgp-signature'], 'x'),
      ]),
    ],
  ])('with a name is shown %s', (_, message) => {
    const { text, names } = read(message)
    expect(text).toBe('words\n')
    expect(names.filter((name) => !name.endsWith('.asc'))).toEqual([])
  })

  test('with a name is shown, too, where nothing else is', () => {
    const inline = ['Content-Disposition: inline; filename=notes.txt']
    const { text, names } = read(multipart('mixed', [part(inline, 'notes')]))
    expect({ text, names }).toEqual({ text: 'notes\n', names: ['notes.txt'] })
    const blank = part(['Content-Type: text/plain'], ' \r\n')
    expect(read(multipart('mixed', [blank, part(inline, 'notes')])).text).toBe('notes\n')
    for (const disposition of ['attachment', 'inline']) {
      const file = `Content-Disposition: ${disposition}; filename=a.txt`
      expect(read(mail([file], 'words'))).toMatchObject({ text: 'words\n', names: ['a.txt'] })
    }
  })

  test.each([
    ['Content-Type: text'],
    ['Content-Type: plain'],
    ['Content-Type: unknown'],
    ['Content-Type: text/'],
    ['Content-Type: ;;;'],
    ['Content-Type: text/enriched'],
    ['Content-Type: text/markdown; charset=utf-8'],
    ['Content-Type: text/x-unknown'],
    ['Content-Type: multipart/mixed'],
    ['Content-Type: multipart/mixed; boundary=never'],
    ['Content-Type: multipart/alternative; boundary=""'],
    ['Content-Transfer-Encoding: x-none'],
  ])('is shown of %s', (field) => {
    expect(read(mail([field], 'Grüße'))).toMatchObject({ text: 'Grüße\n', names: [] })
    expect(read(mail([field], 'Grüße')).outline.snippet).toBe('Grüße')
  })

  test.each([
    ['no header at all', 'Grüße\r\nund mehr'],
    ['no empty line behind the header', 'Subject: s\r\nGrüße\r\nund mehr'],
    ['an empty header', '\r\nGrüße\r\nund mehr'],
  ])('is shown of a message with %s', (_, message) => {
    expect(read(message).text).toBe('Grüße\nund mehr\n')
  })

  test('that only says that it is base64 is shown', () => {
    const fields = ['Content-Transfer-Encoding: base64']
    expect(read(mail(fields, 'These are words!\r\n')).text).toBe('These are words!\n')
    expect(read(mail(fields, 'd29y ZHM=')).text).toBe('words\n')
    expect(read(mail(fields, 'd29 yZ HM=')).text).toBe('words\n')
  })

  test('that is none is a file, whatever its type', () => {
    const fields = ['Content-Type: jpeg', 'Content-Transfer-Encoding: base64']
    const noise = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7919) % 256))
    expect(read(mail(fields, noise.toString('base64')))).toMatchObject({
      text: '',
      names: ['part-1.bin'],
      files: [noise.toString('latin1')],
    })
  })
})

describe('text outside the parts of a multipart', () => {
  const NOTICE = 'This is a multi-part message in MIME format.'
  const BLANK = part(['Content-Type: text/plain'], ' \r\n')
  const BLANK_HTML = part(['Content-Type: text/html'], '<p>&nbsp;</p>')
  const FILE = part(['Content-Disposition: attachment; filename=a.txt'], 'x')
  const around = (
    kind: string,
    parts: readonly string[],
    { preamble = '', epilogue = '' }: { readonly preamble?: string; readonly epilogue?: string },
  ): string =>
    `${multipart(kind, parts).replace('\r\n--b1\r\n', `\r\n${preamble}\r\n--b1\r\n`)}${epilogue}`

  test.each([
    ['a blank text', 'mixed', [BLANK]],
    ['a blank text and blank HTML', 'alternative', [BLANK, BLANK_HTML]],
    ['a part without a body', 'mixed', ['']],
    ['a blank multipart', 'mixed', [multipart('alternative', [BLANK]).replaceAll('b1', 'i1')]],
  ])('is shown where the parts show nothing: %s', (_, kind, parts) => {
    const preamble = 'Grüße <b>\r\n\r\nEve'
    const { text, html, names, outline } = read(
      around(kind, parts, { preamble, epilogue: 'the end' }),
    )
    expect({ text, html, names }).toEqual({ text: 'Grüße <b>\n\nEve\n', html: null, names: [] })
    expect(outline).toMatchObject({ snippet: 'Grüße <b> Eve', truncated: false })
  })

  test.each([
    ['a text', 'mixed', [TEXT]],
    ['an empty text and a file', 'mixed', [BLANK, FILE]],
    ['a file alone', 'mixed', [FILE]],
    ['a text that is a file, too', 'mixed', [part(['Content-Type: text/plain; name=a'], 'words')]],
    [
      'a signed blank text',
      'signed',
      [BLANK, part(['Content-Type: application/pkcs7-signature'], 'x')],
    ],
    [
      'what is encrypted',
      'encrypted',
      [
        part(['Content-Type: application/pgp-encrypted'], 'Version: 1'),
        part(['Content-Type: application/octet-stream'], 'x'),
      ],
    ],
    ['a message', 'digest', [part([], 'Subject: s\r\n\r\nx')]],
  ])('is not shown beside %s', (_, kind, parts) => {
    const { text } = read(around(kind, parts, { preamble: 'before', epilogue: 'behind' }))
    expect(['', 'words']).toContain(text.trim())
  })

  test.each([
    NOTICE,
    'This is a multi-part message in MIME format...',
    'This is a MIME-encapsulated message',
    'This is an OpenPGP/MIME encrypted message (RFC 4880 and 3156)',
    'This is a cryptographically signed message in MIME format.',
    '  This message is in MIME format.  The first part should be readable text,\r\n  while the remaining parts are likely unreadable without MIME-aware tools.',
    '> This message is in MIME format. Since your mail reader does not understand\r\nthis format, some or all of this message may not be legible.',
    'Dies ist eine mehrteilige Nachricht im MIME-Format.',
    'Ceci est un message au format MIME.',
    'Это сообщение в формате MIME.',
    'これはMIME形式のマルチパートメッセージです。',
  ])('is not shown where a mail program wrote it: %s', (preamble) => {
    const parts = [BLANK, BLANK_HTML]
    expect(read(around('alternative', parts, { preamble })).text.trim()).toBe('')
    expect(read(around('alternative', parts, { preamble, epilogue: 'behind' })).text).toBe(
      'behind\n',
    )
  })

  test('is shown of the epilogue where the preamble is blank, or is all there is', () => {
    expect(read(around('mixed', [BLANK], { preamble: ' \t', epilogue: 'behind' })).text).toBe(
      'behind\n',
    )
    const bare = mail(['Content-Type: multipart/mixed; boundary=b'], '--b--\r\nbehind')
    expect(read(bare).text).toBe('behind\n')
  })

  test('is shown of each multipart, in their order', () => {
    const around2 = around('alternative', [BLANK], { preamble: 'inner' }).replaceAll('b1', 'i1')
    expect(read(around('mixed', [around2, BLANK], { preamble: 'outer' })).text).toBe(
      'outer\n\ninner\n',
    )
  })

  test('is read in the charset of the multipart, in another that it is of, and in no transfer encoding', () => {
    const words = 'Встреча будет в среду в три часа'
    const koi8 = (fields: string) =>
      Buffer.concat([
        Buffer.from(`Content-Type: multipart/mixed; boundary=b${fields}\r\n\r\n`),
        iconv.encode(words, 'koi8-r'),
        Buffer.from('\r\n--b\r\n\r\n\r\n--b--\r\n'),
      ])
    expect(read(koi8('; charset=koi8-r')).text).toBe(`${words}\n`)
    expect(read(koi8('')).text).toBe(`${words}\n`)
    expect(read(koi8('\r\nContent-Transfer-Encoding: base64')).text).toBe(`${words}\n`)
  })

  test('that is no text is not shown', () => {
    const preamble = '\x01\x02\x03\x04words'
    expect(read(around('mixed', [BLANK], { preamble })).text.trim()).toBe('')
  })

  test.each([
    ['words', 'words and more words, for thirty letters\r\n'],
    ['blanks', `${' '.repeat(40)}\r\n`],
    ['dashes', '--\r\n'],
  ])('is cut where it is of 25 MiB, and offered whole: %s', (_, line) => {
    const preamble = line.repeat((25 * 1024 * 1024) / line.length)
    const message = around('mixed', [BLANK], { preamble, epilogue: preamble })
    const started = performance.now()
    const { names, outline } = read(message)
    expect(performance.now() - started).toBeLessThan(8000)
    expect(names[0]).toBe('message.txt')
    expect(outline).toMatchObject({
      truncated: true,
      attachments: [{ sizeBytes: preamble.length }, ...(names.length > 1 ? [{}] : [])],
    })
  })
})

describe('an alternative', () => {
  const HTML = part(['Content-Type: text/html'], '<p>rich <b>words</b></p>')
  const plain = (text: string): string => part(['Content-Type: text/plain; charset=utf-8'], text)

  test.each([' \r\n\t\r\n', '', '\u00a0', '\u200b\u200c'])(
    'with a blank text is shown as its HTML: %j',
    (blank) => {
      const { text, html, outline } = read(multipart('alternative', [plain(blank), HTML]))
      expect({ text, html }).toEqual({ text: 'rich words', html: '<p>rich <b>words</b></p>' })
      expect(outline.snippet).toBe('rich words')
    },
  )

  test.each([
    '',
    '<html><head><title>t</title></head><body>&nbsp;</body></html>',
    '<style>p{}</style>',
  ])('with blank HTML is shown as its text: %j', (blank) => {
    const parts = [plain('words'), part(['Content-Type: text/html'], blank)]
    expect(read(multipart('alternative', parts))).toMatchObject({ text: 'words\n', html: null })
  })

  test('shows HTML of an image alone', () => {
    const image = part(['Content-Type: text/html'], '<img src="https://a.test/x.png">')
    expect(read(multipart('alternative', [plain('words'), image]))).toMatchObject({
      text: 'words\n',
      html: '<img data-remote-src="https://a.test/x.png" />',
    })
  })

  test('shows the best HTML once, and has no file of what is for one program', () => {
    const amp = part(['Content-Type: text/x-amp-html'], '<html amp>x')
    expect(read(multipart('alternative', [plain('words'), amp, HTML]))).toMatchObject({
      text: 'words\n',
      html: '<p>rich <b>words</b></p>',
      names: [],
    })
  })

  test('shows all parts of the one that Apple Mail makes of HTML and files', () => {
    const mixed = [
      'Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/html\r\n\r\n<p>above</p>',
      `Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: inline; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${PNG}`,
      'Content-Type: text/html\r\n\r\n<p>below</p>',
    ].join('\r\n--m\r\n')
    expect(read(multipart('alternative', [plain('words'), `${mixed}\r\n--m--`]))).toMatchObject({
      text: 'words\n',
      html: '<p>above</p>\n\n<p>below</p>',
      names: ['a.pdf'],
    })
  })
})

describe('several alternatives of one kind', () => {
  const textOf = (type: string, body: string): string => part([`Content-Type: ${type}`], body)
  const one = textOf('text/plain', 'first')
  const other = textOf('text/plain', 'second')
  const html = textOf('text/html', '<p>third</p>')
  const otherHtml = textOf('text/html', '<p>fourth</p>')

  test('are shown or files, in their order', () => {
    const message = read(multipart('alternative', [one, other, html, otherHtml]))
    expect(message).toMatchObject({ text: 'first\n', html: expect.stringContaining('fourth') })
    expect(message.names).toEqual(['part-1.txt', 'part-2.html'])
    expect(message.files.map((file) => file.trimEnd())).toEqual(['second', '<p>third</p>'])
  })

  test('are shown once where they are the same', () => {
    expect(read(multipart('alternative', [one, one, html, html])).names).toEqual([])
  })

  test('are files where they are for a program and have a name', () => {
    const amp = (name: string) => textOf(`text/x-amp-html${name}`, '<p>live</p>')
    const names = (type: string) => read(multipart('alternative', [one, amp(type), html])).names
    expect(names('')).toEqual([])
    expect(names('; name=live.html')).toEqual(['live.html'])
  })

  test('are files where they are in another multipart', () => {
    const nested = multipart('alternative', [other, html]).replaceAll('b1', 'i1')
    const { text, files } = read(multipart('alternative', [one, nested, otherHtml]))
    expect(text).toBe('first\n')
    expect(files.map((file) => file.trimEnd())).toEqual(['second', '<p>third</p>'])
  })
})

describe('several texts', () => {
  test('are shown one after the other, each as text and as HTML where there is HTML', () => {
    const html = part(['Content-Type: text/html'], '<p>rich</p>')
    const footer = part(['Content-Type: text/plain'], 'a <b> & c')
    expect(read(multipart('mixed', [TEXT, footer]))).toMatchObject({
      text: 'words\n\na <b> & c\n',
      html: null,
    })
    const { text, html: shown } = read(multipart('mixed', [html, footer]))
    expect(text).toBe('rich\n\na <b> & c\n')
    expect(shown).toContain('<p>rich</p>')
    expect(shown).toContain('a &lt;b&gt; &amp; c')
  })

  test('beside an image that is shown in one are one message', () => {
    const related = multipart('related', [
      part(['Content-Type: text/html'], '<img src="cid:a@x">'),
      part(['Content-Type: image/png', 'Content-ID: <a@x>'], 'x'),
    ])
    const { html, outline } = read(related)
    expect(html).toBe('<img src="cid:a@x" />')
    expect(outline.attachments).toMatchObject([{ contentId: 'a@x', inline: true }])
  })
})

describe('a part', () => {
  const image = (fields: readonly string[], type = 'image/png'): string =>
    part([`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', ...fields], PNG)
  const HTML = part(['Content-Type: text/html'], '<img src="cid:a%26b@x"><img src="cid:c@x">')
  const inlineOf = (message: string): readonly boolean[] =>
    read(message).outline.attachments.map(({ inline }) => inline)

  test.each([
    ['beside it', 'related', 'Content-Disposition: inline; filename=a.png'],
    ['that says nothing of how it is shown', 'related', 'X: y'],
    ['that says that it is an attachment', 'related', 'Content-Disposition: attachment'],
    ['among others', 'mixed', 'Content-Disposition: inline'],
  ])('is inline where the HTML refers to it: an image %s', (_, kind, disposition) => {
    expect(inlineOf(multipart(kind, [HTML, image([disposition, 'Content-ID: <a&b@x>'])]))).toEqual([
      true,
    ])
  })

  test.each([
    [
      'a photo beside text alone',
      [TEXT, image(['Content-Disposition: inline', 'Content-Id: <a&b@x>'])],
    ],
    ['an image that it does not name', [HTML, image(['Content-ID: <b@x>'])]],
    ['an image without a Content-ID', [HTML, image(['Content-Disposition: inline'])]],
    ['a file', [HTML, image(['Content-ID: <c@x>'], 'application/pdf')]],
    [
      'an image that is not shown, for it may hold a script',
      [HTML, image(['Content-ID: <c@x>'], 'image/svg+xml')],
    ],
  ])('is an attachment otherwise: %s', (_, parts) => {
    for (const kind of ['mixed', 'related']) {
      expect(inlineOf(multipart(kind, parts))).toEqual([false])
    }
  })

  test('is an attachment where the HTML that refers to it is not shown', () => {
    const hidden = part(
      ['Content-Type: text/html', 'Content-Disposition: attachment'],
      '<img src="cid:c@x">',
    )
    expect(inlineOf(multipart('mixed', [TEXT, hidden, image(['Content-ID: <c@x>'])]))).toEqual([
      false,
      false,
    ])
  })

  test('is inline once of several with one Content-ID: the last is shown', () => {
    const same = [image(['Content-ID: <c@x>']), image(['Content-ID: <c@x>'])]
    expect(inlineOf(multipart('related', [HTML, ...same]))).toEqual([false, true])
  })
})

describe('a text of whatever charset', () => {
  const sent = (fields: readonly string[], body: Buffer): Buffer =>
    Buffer.concat([Buffer.from(mail(fields)), body])

  test.each([
    ['UTF-8 under an unknown label', 'text/plain; charset=x-klingon', Buffer.from('Grüße 日本')],
    ['UTF-8 under a label of 7 bits', 'text/plain; charset=us-ascii', Buffer.from('Grüße 日本')],
    ['UTF-8 under a decorated label', 'text/plain; charset="\'utf-8\'"', Buffer.from('Grüße 日本')],
    [
      'ISO-2022-JP without a label',
      'text/plain',
      iconv.encode('Grusse \x1b$BF|K\\\x1b(B', 'latin1'),
    ],
    ['UTF-16 with a mark', 'text/plain', Buffer.from('\uFEFFGrüße 日本', 'utf16le')],
  ])('is shown: %s', (_, type, body) => {
    const { text } = read(sent([`Content-Type: ${type}`], body))
    expect(text).toMatch(/^Gr(?:üße|usse) 日本\n$/)
  })

  test('of HTML is shown as HTML says', () => {
    const html = iconv.encode('<meta charset=windows-1251><p>Привет', 'windows-1251')
    expect(read(sent(['Content-Type: text/html'], html))).toMatchObject({ text: 'Привет' })
  })

  test.each([
    ['declared', 'text/plain; charset=koi8-r', 'x'],
    ['detected', 'text/plain', 'Встреча будет в среду в три часа'],
  ])('has file names of the charset that it has itself, %s', (_, type, words) => {
    const name = iconv.encode('Счёт.pdf', 'koi8-r')
    const message = Buffer.concat([
      Buffer.from('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'),
      Buffer.from(`Content-Type: ${type}\r\n\r\n`),
      iconv.encode(words, 'koi8-r'),
      Buffer.from('\r\n--b\r\n'),
      Buffer.from('Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="'),
      name,
      Buffer.from('"\r\n\r\nx\r\n--b--\r\n'),
    ])
    expect(read(message).names).toEqual(['Счёт.pdf'])
  })
})
