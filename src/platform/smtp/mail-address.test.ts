import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { envelopeAddress } from './mail-address.ts'

describe('an address for mail', () => {
  test.each([
    ['vic@example.org', 'vic@example.org'],
    ['Vic.O+tag@Example.ORG', 'Vic.O+tag@example.org'],
    ["o'hara_{x}|~@mail.example.org", "o'hara_{x}|~@mail.example.org"],
    ['ann@localhost', 'ann@localhost'],
    ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
    ['jürgen@example.org', 'jürgen@example.org'],
  ])('%s goes out as %s', (address, envelope) => {
    expect(envelopeAddress(address)).toBe(envelope)
  })

  test.each([
    ['nothing', ''],
    ['no domain', 'vic@'],
    ['no local part', '@example.org'],
    ['two recipients', 'vic,eve@example.org'],
    ['two recipients in another way', 'vic;eve@example.org'],
    ['a bracket that ends it', 'vic>SIZE=1@example.org'],
    ['brackets around it', '<vic@example.org>'],
    ['a name before it', 'Vic<vic@example.org'],
    ['a quoted local part', '"vic eve"@example.org'],
    ['a comment', 'vic(eve)@example.org'],
    ['a route', '@relay.example:vic@example.org'],
    ['a second @', 'vic@eve@example.org'],
    ['a line break', 'vic\r\nRCPT TO:<eve@example.org>@example.org'],
    ['a bare line feed', 'vic\n@example.org'],
    ['a line break in the domain', 'vic@example.org\r\nDATA'],
    ['a NUL', 'vic\0@example.org'],
    ['a C1 control', 'vic\u0085@example.org'],
    ['a line separator', 'vic\u2028@example.org'],
    ['a no-break space', 'vic\u00a0@example.org'],
    ['half a surrogate pair', 'vic\ud800@example.org'],
    ['a percent sign in the domain', 'vic@ex%61mple.org'],
    ['an address literal', 'vic@[127.0.0.1]'],
    ['a port', 'vic@example.org:25'],
    ['a path', 'vic@example.org/x'],
    ['a domain that maps to nothing', 'vic@\u00ad'],
  ])('is not %s', (_what, address) => {
    expect(envelopeAddress(address)).toBeUndefined()
  })

  test('never carries what an SMTP command could mistake', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const address of [text, `${text}@example.org`, `vic@${text}`]) {
          expect(envelopeAddress(address) ?? 'a@b').toMatch(/^[^\s<>,;:"()\p{C}]+@[a-z0-9.-]+$/u)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
