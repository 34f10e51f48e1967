import { type Bytes, message, plain } from './entity.ts'
import { type ExpectedReading, type Reading, readingsOf } from './reading.ts'

const word = readingsOf('encoded-word')
const address = readingsOf('address')

const subject = (what: string, value: string, expected: string): Reading =>
  word(what, message(plain('words'), [`Subject: ${value}`]), { subject: expected })

/** Encoded words (RFC 2047), as they should be and as they come. */
export const ENCODED_WORDS: readonly Reading[] = [
  subject('several of base64', '=?utf-8?B?R3LDvA==?= =?utf-8?B?w59l?=', 'Grüße'),
  subject('split inside a character', '=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=', 'Grüße'),
  subject('split inside a character, q', '=?utf-8?Q?Gr=C3?=\r\n =?utf-8?Q?=BC=C3=9Fe?=', 'Grüße'),
  subject('between plain words', 'Re: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= from Ann', 'Re: Grüße from Ann'),
  subject('underscores are blanks', '=?iso-8859-1?q?Sch=F6ne_Gr=FC=DFe?=', 'Schöne Grüße'),
  subject('blanks inside', '=?utf-8?Q?Sch=C3=B6ne Gr=C3=BC=C3=9Fe?=', 'Schöne Grüße'),
  subject(
    'of two charsets',
    '=?iso-8859-1?Q?Gr=FC=DFe?= =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=',
    'Grüße日本',
  ),
  subject('with a language', '=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'),
  subject('of lower case', '=?utf-8?q?gr=c3=bc=c3=9fe?=', 'grüße'),
  subject('without padding', '=?utf-8?B?R3LDvMOfZQ?=', 'Grüße'),
  subject('labelled latin 1 over UTF-8', '=?iso-8859-1?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'),
  subject('labelled ASCII over UTF-8', '=?us-ascii?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'),
  subject('labelled UTF-8 over latin 1', '=?utf-8?Q?Gr=FC=DFe?=', 'Grüße'),
  subject('of an unknown charset over UTF-8', '=?x-none?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'),
  subject('directly behind a word', 'Re:=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Re:Grüße'),
  subject('glued together', '=?utf-8?Q?Gr=C3=BC?==?utf-8?Q?=C3=9Fe?=', 'Grüße'),
  subject(
    'longer than 75',
    `=?utf-8?Q?${'Gr=C3=BC=C3=9Fe_'.repeat(12)}?=`,
    'Grüße '.repeat(12).trim(),
  ),
  subject(
    'folded many times',
    Array.from({ length: 8 }, () => '=?utf-8?B?w7xi?=').join('\r\n '),
    'üb'.repeat(8),
  ),
  subject('with a line break inside', '=?utf-8?Q?a=0D=0ABcc:_x?=', 'a Bcc: x'),
  subject('that is empty', '=?utf-8?Q??= x', 'x'),
  subject('in quotes', '"=?utf-8?Q?Gr=C3=BC=C3=9Fe?="', '"Grüße"'),
  subject('that is broken off', 'a =?utf-8?B?R3LD', 'a =?utf-8?B?R3LD'),
  subject('blanks only around it', '  =?utf-8?Q?x?=  ', 'x'),
  subject('folded plain words', 'a\r\n b\r\n\tc', 'a b c'),
  subject('folded before its words', '\r\n a subject', 'a subject'),
  word('subject twice', message(plain('words'), ['Subject: first', 'Subject: second']), {
    subject: 'first',
  }),
  word('no subject', message(plain('words'), ['Subject:']), { subject: '' }),
]

const from = (what: string, value: Bytes, name: string | null, mail: string): Reading =>
  address(
    what,
    message(plain('words'), [Buffer.concat([Buffer.from('From: '), Buffer.from(value)])]),
    {
      from: [name, mail],
    },
  )

/** Addresses as people and programs write them: the one that any client would answer to. */
export const ADDRESSES: readonly Reading[] = [
  from('alone', 'ann@x.test', '', 'ann@x.test'),
  from('in brackets', '<ann@x.test>', '', 'ann@x.test'),
  from('with a name', 'Ann Lee <ann@x.test>', 'Ann Lee', 'ann@x.test'),
  from('without a blank', 'Ann Lee<ann@x.test>', 'Ann Lee', 'ann@x.test'),
  from('comma quoted', '"Lee, Ann" <ann@x.test>', 'Lee, Ann', 'ann@x.test'),
  from('comma unquoted', 'Lee, Ann <ann@x.test>', 'Lee, Ann', 'ann@x.test'),
  from('two commas unquoted', 'Lee, Ann, Dr. <ann@x.test>', 'Lee, Ann, Dr.', 'ann@x.test'),
  from('comma in an encoded word', '=?utf-8?Q?Lee=2C_Ann?= <ann@x.test>', 'Lee, Ann', 'ann@x.test'),
  from(
    'comma and umlaut in an encoded word',
    '=?utf-8?Q?=C3=96z=2C_J=C3=BCrgen?= <j@x.test>',
    'Öz, Jürgen',
    'j@x.test',
  ),
  from('encoded word in quotes', '"=?utf-8?Q?J=C3=BCrgen?=" <j@x.test>', 'Jürgen', 'j@x.test'),
  from(
    'encoded word beside words',
    '=?utf-8?Q?J=C3=BCrgen?= Lee <j@x.test>',
    'Jürgen Lee',
    'j@x.test',
  ),
  from(
    'encoded words in a row',
    '=?utf-8?Q?J=C3=BC?= =?utf-8?Q?rgen?= <j@x.test>',
    'Jürgen',
    'j@x.test',
  ),
  from('group', 'Team: ann@x.test, bob@x.test;', '', 'ann@x.test'),
  from('group with names', 'Team: Ann Lee <ann@x.test>;', 'Ann Lee', 'ann@x.test'),
  from('group without an end', 'Team: Ann Lee <ann@x.test>', null, 'ann@x.test'),
  from('comment behind', 'ann@x.test (Ann Lee)', 'Ann Lee', 'ann@x.test'),
  from('comment in the name', 'Ann (the boss) Lee <ann@x.test>', 'Ann Lee', 'ann@x.test'),
  from('comment with an address', 'ann@x.test (not eve@y.test)', 'not eve@y.test', 'ann@x.test'),
  from('comment with brackets', 'ann@x.test (Ann <eve@y.test>)', 'Ann <eve@y.test>', 'ann@x.test'),
  from('comments nested', 'ann@x.test (Ann (the boss) Lee)', 'Ann (the boss) Lee', 'ann@x.test'),
  from('comment before', '(Ann Lee) ann@x.test', 'Ann Lee', 'ann@x.test'),
  from('comment behind brackets', 'Ann Lee <ann@x.test> (Sales)', 'Ann Lee', 'ann@x.test'),
  from('quotes escaped', String.raw`"Ann \"Lee\" X" <ann@x.test>`, 'Ann "Lee" X', 'ann@x.test'),
  from(
    'backslash escaped',
    String.raw`"Ann \\ Lee" <ann@x.test>`,
    String.raw`Ann \ Lee`,
    'ann@x.test',
  ),
  from('quotes around a part', 'Ann "the boss" Lee <ann@x.test>', 'Ann the boss Lee', 'ann@x.test'),
  from('name that is an address', '"boss@bank.test" <eve@y.test>', 'boss@bank.test', 'eve@y.test'),
  from(
    'name that is an address unquoted',
    'boss@bank.test <eve@y.test>',
    'boss@bank.test',
    'eve@y.test',
  ),
  from(
    'name that is an encoded address',
    '=?utf-8?Q?boss=40bank.test?= <eve@y.test>',
    'boss@bank.test',
    'eve@y.test',
  ),
  from(
    'name with encoded brackets',
    '=?utf-8?Q?Boss_=3Cboss=40bank.test=3E?= <eve@y.test>',
    'Boss <boss@bank.test>',
    'eve@y.test',
  ),
  from(
    'name with quoted brackets',
    '"Boss <boss@bank.test>" <eve@y.test>',
    'Boss <boss@bank.test>',
    'eve@y.test',
  ),
  from('local part quoted', '"ann lee"@x.test', '', '"ann lee"@x.test'),
  from('local part quoted in brackets', 'Ann <"ann.lee"@x.test>', 'Ann', 'ann.lee@x.test'),
  from('route', '<@a.test,@b.test:ann@x.test>', '', 'ann@x.test'),
  from('route with a name', 'Ann <@a.test:ann@x.test>', 'Ann', 'ann@x.test'),
  from('bracket not closed', 'Ann Lee <ann@x.test', 'Ann Lee', 'ann@x.test'),
  from('brackets twice', 'Ann Lee <<ann@x.test>>', 'Ann Lee', 'ann@x.test'),
  from('blanks in brackets', 'Ann Lee < ann@x.test >', 'Ann Lee', 'ann@x.test'),
  from('blanks around the at sign', 'Ann Lee <ann @ x.test>', 'Ann Lee', 'ann@x.test'),
  from('mailto', 'Ann Lee <mailto:ann@x.test>', 'Ann Lee', 'ann@x.test'),
  from('literal', 'Ann <ann@[192.0.2.1]>', 'Ann', 'ann@[192.0.2.1]'),
  from(
    'square brackets in the name',
    'Ann Lee [Sales] <ann@x.test>',
    'Ann Lee [Sales]',
    'ann@x.test',
  ),
  from('at sign in the name', 'Ann @ Shop <ann@x.test>', 'Ann @ Shop', 'ann@x.test'),
  from('colon in the name', 'Shop: Ann <ann@x.test>', null, 'ann@x.test'),
  from('semicolon in the name', 'Lee; Ann <ann@x.test>', null, 'ann@x.test'),
  from('dots in the name', 'Dr. A. Lee <ann@x.test>', 'Dr. A. Lee', 'ann@x.test'),
  from('apostrophes around the name', "'Ann Lee' <ann@x.test>", "'Ann Lee'", 'ann@x.test'),
  from('apostrophe in the name', "Ann O'Lee <ann@x.test>", "Ann O'Lee", 'ann@x.test'),
  from('quote not closed', '"Ann Lee <ann@x.test>', null, 'ann@x.test'),
  from('name that is empty', '"" <ann@x.test>', '', 'ann@x.test'),
  from('name of two lines', 'Ann\r\n Lee\r\n <ann@x.test>', 'Ann Lee', 'ann@x.test'),
  from('plus and upper case', 'Ann <Ann+Sales@X.test>', 'Ann', 'ann+sales@x.test'),
  from('two authors', 'Ann <ann@x.test>, Bob <bob@y.test>', 'Ann', 'ann@x.test'),
  from('empty one first', ', Ann <ann@x.test>', 'Ann', 'ann@x.test'),
  from('parenthesis not closed', 'Ann (Sales <ann@x.test>', null, 'ann@x.test'),
  from('name in Japanese', '=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= <t@x.test>', '日本', 't@x.test'),
  from('domain in punycode', 'Ann <ann@xn--bcher-kva.test>', 'Ann', 'ann@xn--bcher-kva.test'),
  ...lists(),
]

function lists(): Reading[] {
  const to = (
    what: string,
    value: string,
    expected: readonly string[],
    cc?: ExpectedReading,
  ): Reading => address(what, message(plain('words'), [`To: ${value}`]), { to: expected, ...cc })
  return [
    to('list', 'ann@x.test, Bob <bob@x.test>', ['ann@x.test', 'bob@x.test']),
    to('list of quoted commas', '"Lee, Ann" <ann@x.test>, "Oz, Bob" <bob@x.test>', [
      'ann@x.test',
      'bob@x.test',
    ]),
    to('list of unquoted commas', 'Lee, Ann <ann@x.test>, Oz, Bob <bob@x.test>', [
      'ann@x.test',
      'bob@x.test',
    ]),
    to('list with semicolons', 'ann@x.test; Bob <bob@x.test>', ['ann@x.test', 'bob@x.test']),
    to('list with empty places', 'ann@x.test,, ,bob@x.test,', ['ann@x.test', 'bob@x.test']),
    to('group among others', 'ann@x.test, Team: bob@x.test, carol@x.test;, dan@x.test', [
      'ann@x.test',
      'bob@x.test',
      'carol@x.test',
      'dan@x.test',
    ]),
    to('empty group', 'undisclosed-recipients:;', []),
    to('folded list', 'ann@x.test,\r\n bob@x.test,\r\n\tcarol@x.test', [
      'ann@x.test',
      'bob@x.test',
      'carol@x.test',
    ]),
    to('several brackets', '<ann@x.test> <bob@x.test>', ['ann@x.test', 'bob@x.test']),
    address('two fields of to', message(plain('words'), ['To: ann@x.test', 'To: bob@x.test']), {
      to: ['ann@x.test', 'bob@x.test'],
    }),
    address(
      'hundred recipients',
      message(plain('words'), [
        `To: ${Array.from({ length: 100 }, (_, at) => `P${at} <p${at}@x.test>`).join(',\r\n ')}`,
      ]),
      { to: Array.from({ length: 100 }, (_, at) => `p${at}@x.test`) },
    ),
  ]
}
