import { attached, encoded, type Entity, entity, message, multipart, plain } from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'
import { PNG, rich, BOTH, alternative } from './structure-parts.ts'

const nested = readingsOf('message-in-message')
const secured = readingsOf('signed-or-encrypted')
const reported = readingsOf('report')

const inner = message(alternative(rich), ['Subject: inner'])
const eml = (fields: readonly string[] = []): Entity =>
  entity(['Content-Type: message/rfc822', ...fields], inner)

/** Messages inside messages: each is a file, byte for byte. */
export const NESTED: readonly Reading[] = [
  nested('forwarded', message(multipart('mixed', [plain('words'), eml()])), {
    text: 'words',
    html: null,
    attachments: [{ filename: 'part-1.eml', contentType: 'message/rfc822', content: inner }],
  }),
  nested(
    'forwarded with a name',
    message(
      multipart('mixed', [
        plain('words'),
        eml(['Content-Disposition: attachment; filename="a.eml"']),
      ]),
    ),
    { attachments: [{ filename: 'a.eml', content: inner }] },
  ),
  nested(
    'forwarded inline',
    message(multipart('mixed', [plain('words'), eml(['Content-Disposition: inline'])])),
    { text: 'words', attachments: [{ filename: 'part-1.eml', content: inner }] },
  ),
  nested(
    'in base64',
    message(
      multipart('mixed', [
        plain('words'),
        encoded(['Content-Type: message/rfc822; name="a.eml"'], inner, 'base64'),
      ]),
    ),
    { attachments: [{ filename: 'a.eml', content: inner }] },
  ),
  nested('alone', message(eml()), { attachments: [{ filename: 'part-1.eml', content: inner }] }),
  nested(
    'twice',
    message(
      multipart('mixed', [
        plain('words'),
        entity(['Content-Type: message/rfc822'], message(eml())),
      ]),
    ),
    { text: 'words', attachments: [{ filename: 'part-1.eml', content: message(eml()) }] },
  ),
  nested(
    'with the same boundary',
    message(
      multipart(
        'mixed',
        [plain('words'), entity(['Content-Type: message/rfc822'], message(plain('inner words')))],
        { boundary: 'same' },
      ),
    ),
    { text: 'words' },
  ),
  nested(
    'digest',
    message(
      multipart('digest', [entity([], message(plain('one'))), entity([], message(plain('two')))]),
    ),
    {
      attachments: [
        { filename: 'part-1.eml', content: message(plain('one')) },
        { filename: 'part-2.eml', content: message(plain('two')) },
      ],
    },
  ),
  nested(
    'digest of a list',
    message(
      multipart('mixed', [
        plain('Topics of today'),
        multipart('digest', [entity(['Content-Type: message/rfc822'], message(plain('one')))]),
      ]),
    ),
    {
      text: 'Topics of today',
      attachments: [{ filename: 'part-1.eml', content: message(plain('one')) }],
    },
  ),
  nested(
    'partial',
    message(
      entity(
        ['Content-Type: message/partial; id="x"; number=1; total=2'],
        'Subject: a part\r\n\r\nwords',
      ),
    ),
    { subject: 'a reading' },
  ),
]

/** What is signed or encrypted stays whole: its parts are files. */
export const SECURED: readonly Reading[] = [
  secured(
    'pgp signed',
    message(
      multipart(
        'signed',
        [
          plain('words'),
          encoded(
            ['Content-Type: application/pgp-signature; name="signature.asc"'],
            '-----BEGIN PGP SIGNATURE-----\r\n',
            '7bit',
          ),
        ],
        { parameters: '; micalg=pgp-sha256; protocol="application/pgp-signature"' },
      ),
    ),
    {
      text: 'words',
      attachments: [{ filename: 'signature.asc', contentType: 'application/pgp-signature' }],
    },
  ),
  secured(
    'pgp signed alternative',
    message(
      multipart('signed', [
        alternative(rich),
        encoded(
          ['Content-Type: application/pgp-signature; name="signature.asc"'],
          '-----BEGIN PGP SIGNATURE-----\r\n',
          '7bit',
        ),
      ]),
    ),
    { ...BOTH, attachments: [{ filename: 'signature.asc' }] },
  ),
  secured(
    'pgp encrypted',
    message(
      multipart(
        'encrypted',
        [
          encoded(['Content-Type: application/pgp-encrypted'], 'Version: 1\r\n', '7bit'),
          encoded(
            ['Content-Type: application/octet-stream; name="encrypted.asc"'],
            '-----BEGIN PGP MESSAGE-----\r\n',
            '7bit',
          ),
        ],
        { parameters: '; protocol="application/pgp-encrypted"' },
      ),
    ),
    {
      attachments: [
        { filename: 'part-1.asc', content: Buffer.from('Version: 1\r\n') },
        { filename: 'encrypted.asc', content: Buffer.from('-----BEGIN PGP MESSAGE-----\r\n') },
      ],
    },
  ),
  secured(
    'pgp in the text',
    message(plain('-----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA\r\n-----END PGP MESSAGE-----')),
    { contains: ['-----BEGIN PGP MESSAGE-----', 'hQEMA'], attachments: [] },
  ),
  secured(
    'smime signed',
    message(
      multipart(
        'signed',
        [plain('words'), attached('smime.p7s', 'application/pkcs7-signature', PNG)],
        { parameters: '; protocol="application/pkcs7-signature"; micalg=sha-256' },
      ),
    ),
    { text: 'words', attachments: [{ filename: 'smime.p7s', content: PNG }] },
  ),
  secured(
    'smime encrypted',
    message(
      encoded(
        [
          'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
          'Content-Disposition: attachment; filename="smime.p7m"',
        ],
        PNG,
        'base64',
      ),
    ),
    {
      attachments: [{ filename: 'smime.p7m', contentType: 'application/pkcs7-mime', content: PNG }],
    },
  ),
  secured(
    'smime encrypted, old type',
    message(encoded(['Content-Type: application/x-pkcs7-mime; name="smime.p7m"'], PNG, 'base64')),
    { attachments: [{ filename: 'smime.p7m', content: PNG }] },
  ),
]

const status = entity(
  ['Content-Type: message/delivery-status'],
  'Reporting-MTA: dns; mx.test\r\n\r\nFinal-Recipient: rfc822; bob@gone.test\r\nAction: failed\r\nStatus: 5.1.1\r\n',
)
const report = (...parts: readonly Entity[]): Buffer =>
  message(
    multipart('report', [plain('It could not be delivered.'), ...parts], {
      parameters: '; report-type=delivery-status',
    }),
    ['From: MAILER-DAEMON@mx.test'],
  )

/** What mail servers and programs report. */
export const REPORTS: readonly Reading[] = [
  reported(
    'failed',
    report(status, entity(['Content-Type: text/rfc822-headers'], 'Subject: x\r\n')),
    {
      text: 'It could not be delivered.',
      attachments: [
        { filename: 'part-1.txt', contentType: 'message/delivery-status', content: status.body },
        { filename: 'part-2.txt', content: Buffer.from('Subject: x\r\n') },
      ],
    },
  ),
  reported('failed with the whole message', report(status, eml()), {
    text: 'It could not be delivered.',
    attachments: [{ filename: 'part-1.txt' }, { filename: 'part-2.eml', content: inner }],
  }),
  reported('failed without the message', report(status), {
    text: 'It could not be delivered.',
    attachments: [{ filename: 'part-1.txt' }],
  }),
  reported(
    'read',
    message(
      multipart(
        'report',
        [
          plain('It was displayed.'),
          entity(
            ['Content-Type: message/disposition-notification'],
            'Disposition: manual-action/MDN-sent-manually; displayed\r\n',
          ),
        ],
        { parameters: '; report-type=disposition-notification' },
      ),
    ),
    { text: 'It was displayed.' },
  ),
  reported(
    'abuse',
    message(
      multipart(
        'report',
        [
          plain('A complaint.'),
          entity(['Content-Type: message/feedback-report'], 'Feedback-Type: abuse\r\n'),
          eml(),
        ],
        { parameters: '; report-type=feedback-report' },
      ),
    ),
    { text: 'A complaint.' },
  ),
  reported(
    'qmail',
    message(
      plain(
        'Hi. This is the qmail-send program at mx.test.\r\n\r\n<bob@gone.test>:\r\nno such user\r\n',
      ),
      ['From: MAILER-DAEMON@mx.test', 'Subject: failure notice'],
    ),
    { contains: ['qmail-send program', 'bob@gone.test'], attachments: [] },
  ),
]
