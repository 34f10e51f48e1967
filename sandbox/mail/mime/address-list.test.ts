import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseAddressList } from './address-list.ts'

const read = (list: string): string[] =>
  parseAddressList(list, 500).map(({ name, address }) => `${name}|${address}`)

describe('an address list', () => {
  test.each([
    ['ann@x.test', '|ann@x.test'],
    ['Ann Lee <ann@x.test>', 'Ann Lee|ann@x.test'],
    ['"Lee, Ann" <ann@x.test>', 'Lee, Ann|ann@x.test'],
    ['Lee, Ann <ann@x.test>', 'Lee, Ann|ann@x.test'],
    ['John Q. Public, Jr. <jqp@x.test>', 'John Q. Public, Jr.|jqp@x.test'],
    ['"Lee", Ann <ann@x.test>', 'Lee, Ann|ann@x.test'],
    ['=?utf-8?Q?Lee,_Ann?= <ann@x.test>', 'Lee, Ann|ann@x.test'],
    ['=?utf-8?Q?Lee, Ann?= <ann@x.test>', 'Lee, Ann|ann@x.test'],
    ['"=?utf-8?Q?J=C3=BCrgen?=" <j@x.test>', 'Jürgen|j@x.test'],
    ['=?utf-8?Q?J=C3?=\t=?utf-8?Q?=BCrgen?= <j@x.test>', 'Jürgen|j@x.test'],
    ['Jürgen Groß <j@x.test>', 'Jürgen Groß|j@x.test'],
    ['Dr. Ann L. Lee <ann@x.test>', 'Dr. Ann L. Lee|ann@x.test'],
    ['Bob@home <bob@x.test>', 'Bob@home|bob@x.test'],
    ['Sales: EU <s@x.test>', 'Sales: EU|s@x.test'],
  ])('names who wrote: %s', (list, expected) => {
    expect(read(list)).toEqual([expected])
  })

  test.each([
    ['ann@x.test (Ann Lee)', 'Ann Lee|ann@x.test'],
    ['(a (nested) one) Ann (x) <ann(y)@x.test> (z)', 'Ann|ann@x.test'],
    ['Ann (Sales <ann@x.test>', 'Ann (Sales|ann@x.test'],
    ['"Ann <ann@x.test>', 'Ann|ann@x.test'],
    ['""Ann Lee"" <ann@x.test>', 'Ann Lee|ann@x.test'],
    ['Ann "The Boss" Lee <ann@x.test>', 'Ann The Boss Lee|ann@x.test'],
    ['\\"Ann\\" <ann@x.test>', '"Ann"|ann@x.test'],
    ['Ann\\, Lee <ann@x.test>', 'Ann, Lee|ann@x.test'],
    ['<@a.test,@b.test:ann@x.test>', '|ann@x.test'],
    ['Ann <<ann@x.test>>', 'Ann|ann@x.test'],
    ['Ann <ann@x.test', 'Ann|ann@x.test'],
    ['Ann ann@x.test>', 'Ann|ann@x.test'],
    ['Ann ann@x.test', 'Ann|ann@x.test'],
    ['<ann@x.test> Ann', 'Ann|ann@x.test'],
    ['< ann @ x.test >', '|ann@x.test'],
    ['ann @ x.test', '|ann@x.test'],
    ['"ann lee"@x.test', '|"ann lee"@x.test'],
    ['"ann"@x.test', '|ann@x.test'],
    ['"ann@y.test"@x.test', '|"ann@y.test"@x.test'],
    ['<"ann@y.test"@x.test>', '|"ann@y.test"@x.test'],
    ['<"ann@y.test">', '|ann@y.test'],
    ['ann@y.test: bob@x.test;', '|bob@x.test'],
    ['"ann@y.test": bob@x.test;', '|bob@x.test'],
    ['Bob <bob@x.test>: hello;', 'Bob : hello|bob@x.test'],
    ['Re: Bob bob@x.test', 'Re: Bob|bob@x.test'],
    ["'ann@x.test'", '|ann@x.test'],
    ['"ann@x.test"', '|ann@x.test'],
    ['ann@x.test <Ann Lee>', 'Ann Lee|ann@x.test'],
    ['mailto:ann@x.test', '|ann@x.test'],
    ['Ann <mailto:ann@x.test>', 'Ann|ann@x.test'],
    ['Ann <ann@[IPv6:::1]>', 'Ann|ann@[IPv6:::1]'],
    ['ann@[192.0.2.1]', '|ann@[192.0.2.1]'],
    ['Ann=?utf-8?Q?_Lee?=<ann@x.test>', 'Ann Lee|ann@x.test'],
  ])('is read as others read it: %s', (list, expected) => {
    expect(read(list)).toEqual([expected])
  })

  test.each([
    ['a@x.test, b@x.test', ['|a@x.test', '|b@x.test']],
    ['a@x.test; b@x.test', ['|a@x.test', '|b@x.test']],
    [' , ,, <a@x.test>, ,', ['|a@x.test']],
    ['Team: a@x.test, "B" <b@x.test>;', ['|a@x.test', 'B|b@x.test']],
    ['Team: a@x.test;, Bob <b@x.test>', ['|a@x.test', 'Bob|b@x.test']],
    ['Lee, Ann <a@x.test>, Bob <b@x.test>', ['Lee, Ann|a@x.test', 'Bob|b@x.test']],
    ['a@x.test, Lee, Ann <b@x.test>', ['|a@x.test', 'Lee, Ann|b@x.test']],
    ['Ann Lee, bob@x.test', ['Ann Lee|', '|bob@x.test']],
    ['Ann <a@x.test> <b@y.test>', ['Ann|a@x.test', '|b@y.test']],
    ['<a@x.test, b@x.test>', ['|a@x.test', '|b@x.test']],
    ['undisclosed-recipients:;', []],
    ['ann@x.test: bob@x.test', ['|ann@x.test', '|bob@x.test']],
    ['ann@x.test:', ['|ann@x.test']],
    ['Ann <>', ['Ann|']],
    ['<>', []],
    ['', []],
  ])('may name several, or none: %s', (list, expected) => {
    expect(read(list)).toEqual(expected)
  })

  test.each([
    [
      '=?utf-8?Q?Bank_=3Cbank=40bank.test=3E=2C?= <eve@else.test>',
      'Bank <bank@bank.test>,|eve@else.test',
    ],
    ['=?utf-8?B?QmFuayA8YmFua0BiYW5rLnRlc3Q+?=', 'Bank <bank@bank.test>|'],
    ['"bank@bank.test" <eve@else.test>', 'bank@bank.test|eve@else.test'],
    ['"Bank <bank@bank.test>" <eve@else.test>', 'Bank <bank@bank.test>|eve@else.test'],
  ])('has no address in what an encoded word or a quoted name holds: %s', (list, expected) => {
    expect(read(list)).toEqual([expected])
  })

  test('finds an address that an encoded word with brackets may hide from others', () => {
    expect(read('=?utf-8?Q? <bank@bank.test>?= <eve@else.test>')).toContain('|eve@else.test')
    expect(read('=?utf-8?Q? <bank@bank.test>?= <eve@else.test>').join(' ')).toContain(
      'bank@bank.test',
    )
  })

  test('is read whatever it is made of, and has no more than were asked for', () => {
    const piece = fc.constantFrom(
      ...Array.from('"(<>),;:@\\[]\'= '),
      'a',
      'é',
      '=?utf-8?Q?',
      '?=',
      '\u{F0000}0\u{F0000}',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const found = parseAddressList(pieces.join(''), 5)
        expect(found.length).toBeLessThanOrEqual(5)
        for (const { name, address } of found) expect(name + address).not.toBe('')
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    '(',
    '"',
    '<',
    'a,',
    '=?',
    '=?utf-8?Q?',
    'a@b ',
    '[@',
    '\\',
    '((a)',
    '<a@x>,',
    '"a"@b ',
    ':;',
    'a:',
    '@ ',
    '> ',
  ])('takes time that grows with the length: %s', (piece) => {
    const started = performance.now()
    parseAddressList(piece.repeat(64 * 1024), 500)
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test('takes no longer for colons behind comments that a semicolon follows', () => {
    const started = performance.now()
    parseAddressList(`${'()'.repeat(64 * 1024)}a@b${':'.repeat(128 * 1024)};`, 500)
    parseAddressList(`${'()'.repeat(64 * 1024)}<a@b>${':'.repeat(128 * 1024)};`, 500)
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
