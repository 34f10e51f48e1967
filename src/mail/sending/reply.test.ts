import { describe, expect, test } from 'vitest'

import { keptPeople, readMailHeaders } from '#mail/headers/mail-headers.ts'

import { type AnsweredMessage, answerAddressees, answerSubject, answerThreading } from './reply.ts'

const parent = (more: Partial<AnsweredMessage> = {}): AnsweredMessage => ({
  folder: 'INBOX',
  from: 'Ann <ann@else.test>',
  to: ['info@one.test', 'bob@else.test'],
  cc: ['"Lee, C" <carl@else.test>'],
  replyTo: [],
  subject: 'Hello',
  headerId: 'x@else.test',
  references: [],
  ...more,
})
const answer = (more: Partial<AnsweredMessage> = {}, replyAll = false) => {
  const { to, cc, bcc } = answerAddressees(parent(more), { own: ['info@one.test'], replyAll })
  expect(bcc).toEqual([])
  return [to, cc].map((list) => list.map(({ address }) => address))
}

describe('an answer', () => {
  test.each<[string, string[][], Partial<AnsweredMessage>, boolean?]>([
    ['goes to the author', [['ann@else.test'], []], {}],
    ['goes where the author wants it', [['desk@else.test'], []], { replyTo: ['desk@else.test'] }],
    ['goes to the author where that is no address', [['ann@else.test'], []], { replyTo: ['Ann'] }],
    ['to all goes to all', [['ann@else.test'], ['bob@else.test', 'carl@else.test']], {}, true],
    [
      'goes to all authors',
      [['ann@else.test', 'jack@else.test'], []],
      { authors: ['Ann <ann@else.test>', 'Jack <jack@else.test>'] },
    ],
    [
      'to all goes to all authors, too',
      [
        ['jack@else.test', 'ann@else.test'],
        ['bob@else.test', 'carl@else.test'],
      ],
      { authors: ['jack@else.test', 'ann@else.test'] },
      true,
    ],
    [
      'goes where the authors want it',
      [['desk@else.test'], []],
      { authors: ['ann@else.test', 'jack@else.test'], replyTo: ['desk@else.test'] },
    ],
    [
      'goes to those who wrote with oneself',
      [['ann@else.test'], []],
      { from: 'info@one.test', authors: ['info@one.test', 'ann@else.test'] },
    ],
    ['never goes to oneself', [['ann@else.test'], []], { to: ['Info+x@one.test'], cc: [] }, true],
    [
      'to a message of oneself goes to the same people',
      [['info@two.test'], []],
      { from: 'info@one.test', to: ['info@two.test'] },
    ],
    ['names each once', [['ann@else.test'], []], { to: ['ANN@else.test'], cc: [] }, true],
    [
      'without an addressee has no recipient',
      [[], []],
      { from: 'info@one.test', to: ['info@one.test'] },
    ],
    ['leaves out what is no address', [['ann@else.test'], []], { to: ['nobody'], cc: [] }, true],
  ])('%s', (_, expected, more, replyAll) => {
    expect(answer(more, replyAll)).toEqual(expected)
  })

  test('keeps names', () => {
    const { cc } = answerAddressees(parent(), { own: ['info@one.test'], replyAll: true })
    expect(cc[1]).toEqual({ name: 'Lee, C', address: 'carl@else.test' })
  })
})

test.each([
  ['Hello', 'Re: Hello'],
  ['Re: Hello', 'Re: Hello'],
  ['RE: AW: Re[2]: Hello', 'Re: Hello'],
  ['Regards', 'Re: Regards'],
  ['', 'Re:'],
])('the subject "%s" is answered by "%s"', (subject, expected) => {
  expect(answerSubject(subject)).toBe(expected)
})

describe('a conversation', () => {
  test('goes on from the ids that it has', () => {
    expect(answerThreading({ headerId: 'b', references: ['a'] })).toEqual({
      inReplyTo: 'b',
      references: ['a', 'b'],
    })
    expect(answerThreading({ headerId: null, references: ['a'] })).toEqual({
      inReplyTo: null,
      references: [],
    })
  })

  test('keeps its first id and the last ones when it is long', () => {
    const references = Array.from({ length: 80 }, (_, at) => `${at}`)
    const { references: kept } = answerThreading({ headerId: 'last', references })
    expect([kept.length, kept[0], kept[1], kept.at(-1)]).toEqual([50, '0', '32', 'last'])
  })
})

test.each([
  'Lee, Ann <ann@x.test>',
  '=?utf-8?Q?Lee,_Ann?= <ann@x.test>',
  'John Q. Public, Jr. <ann@x.test>',
  'Team: Ann <ann@x.test>;',
  'ann@x.test (Ann Lee)',
  '"Ann <ann@x.test>',
  'Ann (Sales <ann@x.test>',
  '<@a.test,@b.test:ann@x.test>',
  'Ann <<ann@x.test>>',
  'Ann <ann@x.test',
  "'ann@x.test'",
  '"ann@x.test"',
  'Ann Lee, ann@x.test',
  '=?utf-8?Q?Bank_=3Cbank=40bank.test=3E=2C?= <ann@x.test>',
  'mailto:ann@x.test',
])('an answer to the author %s goes to the address that others see', (author) => {
  const headers = readMailHeaders(Buffer.from(`From: ${author}\r\n\r\n`))
  expect(answer({ from: headers.from, ...keptPeople(headers) })).toEqual([['ann@x.test'], []])
})

test.each([
  ['Ann <ann@x.test>, Bob <bob@x.test>', ['ann@x.test', 'bob@x.test']],
  ['Sales, "Lee, Ann" <ann@x.test>, Bob <bob@x.test>', ['ann@x.test', 'bob@x.test']],
  ['Team: Ann <ann@x.test>, Bob <bob@x.test>;', ['ann@x.test', 'bob@x.test']],
  ['Ann <ann@x.test>\r\nFrom: Mallory <m@x.test>', ['ann@x.test']],
])('an answer to the authors %s goes to %s', (field, expected) => {
  const headers = readMailHeaders(Buffer.from(`From: ${field}\r\n\r\n`))
  expect(answer({ from: headers.from, ...keptPeople(headers) })).toEqual([expected, []])
})
