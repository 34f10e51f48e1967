import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseAddressList, parseAddressOctets } from './address-list.ts'
import { decodeText } from './charsets.ts'

const read = (list: string): string[] =>
  parseAddressList(list, 500).map(({ name, address }) => `${name}|${address}`)

const octetsRead = (octets: string, declared: string | undefined) =>
  parseAddressOctets(octets, {
    maxCount: 500,
    decode: (piece) => decodeText(Buffer.from(piece, 'latin1'), { declared }),
  })

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

  test.each([
    ['=?utf-8?q?a"?= <ceo@bank.test> =?utf-8?q?"b?= <evil@evil.test>', 'evil@evil.test'],
    ['=?utf-8?q?a(?= <ceo@bank.test> =?utf-8?q?)b?= <evil@evil.test>', 'evil@evil.test'],
    ['=?utf-8?q?a"\\?= <ceo@bank.test> =?utf-8?q?"b?= <evil@evil.test>', 'evil@evil.test'],
    ['x =?utf-8?q?"?= <ceo@bank.test>, =?utf-8?q?"?= <evil@evil.test>', 'evil@evil.test'],
  ])('is the real author where an encoded word hides a quote: %s', (list, address) => {
    expect(parseAddressList(list, 500).map((found) => found.address)).toEqual([address])
  })

  test.each([
    ['=?utf-8?Q?Ann_(Sales)?= <ann@x.test>', 'Ann (Sales)|ann@x.test'],
    ['=?utf-8?Q?"Ann"_Lee?= <ann@x.test>', '"Ann" Lee|ann@x.test'],
    ['=?utf-8?Q?=22Lee=2C_Ann=22?= <ann@x.test>', '"Lee, Ann"|ann@x.test'],
  ])('keeps pairs of quotes and parentheses in an encoded word: %s', (list, expected) => {
    expect(read(list)).toEqual([expected])
  })

  test.each([
    ['\x1b$B<evil@evil.test>!\x1b(B ceo@bank.test', 'iso-2022-jp', 'evil@evil.test'],
    ['"\x81\\" <ceo@bank.test> \x81\\"" <evil@evil.test>', 'shift_jis', 'evil@evil.test'],
    ['"\xa4\\" <ceo@bank.test> \xa4\\"" <evil@evil.test>', 'big5', 'evil@evil.test'],
    ['"\x81\\" <ceo@bank.test> \x81\\"" <evil@evil.test>', 'gb18030', 'evil@evil.test'],
  ])('is split before its characters are read: %j', (octets, declared, address) => {
    const [first] = octetsRead(octets, declared)
    expect(first?.address).toBe(address)
  })

  test.each([
    ['\x1b$BF|K\\\x1b(B <a@x.test>', undefined, '日本'],
    ['"\x1b$BF|K\\\x1b(B" <a@x.test>', undefined, '日本'],
    ['a@x.test (\x1b$BF|K\\\x1b(B)', undefined, '日本'],
    ['\x1b$B$$$,$;\x1b(B <a@x.test>', undefined, 'いがせ'],
    ['\x1b$B$"$$$"\x1b(B <a@x.test>', undefined, 'あいあ'],
    ['\x83\x5c\x83\x74\x83\x67 <a@x.test>', 'shift_jis', 'ソフト'],
    ['"\x83\x5c\x83\x74\x83\x67" <a@x.test>', 'shift_jis', 'ソフト'],
    ['\xa4\xa4\xa4\xe5 <a@x.test>', 'big5', '中文'],
    ['J\xfcrgen <a@x.test>', 'iso-8859-1', 'Jürgen'],
    ['J\xc3\xbcrgen\xc2\xa0\xc3\xa0 <a@x.test>', undefined, 'Jürgen à'],
  ])('has names in the charset of the field: %j', (octets, declared, name) => {
    expect(octetsRead(octets, declared)).toEqual([{ name, address: 'a@x.test' }])
  })

  test.each([
    ['jürgen@bücher.test', '|jürgen@bücher.test'],
    ['用户 <用户@例子.test>', '用户|用户@例子.test'],
    ['"用 户"@例子.test', '|"用 户"@例子.test'],
    ['Ann\u{a0}ann@x.test', 'Ann|ann@x.test'],
  ])('may have addresses in UTF-8: %s', (list, expected) => {
    expect(read(list)).toEqual([expected])
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
