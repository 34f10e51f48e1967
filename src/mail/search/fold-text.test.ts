import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'

import { foldText, foldWithOffsets } from './fold-text.ts'

describe('a text is folded', () => {
  test.each([
    ['German', 'Größe STRAẞE Übersicht', 'grosse strasse ubersicht'],
    ['Polish', 'Łódź, zażółć GĘŚLĄ', 'lodz, zazolc gesla'],
    ['Turkish', 'İstanbul IŞIK ışık', 'istanbul isik isik'],
    ['Danish and Icelandic', 'Ærø Þór', 'aero thor'],
    ['Vietnamese', 'Đà Nẵng', 'da nang'],
    ['Greek', 'ΣΊΣΥΦΟΣ αύριο', 'σισυφοσ αυριο'],
    ['Russian', 'Фёдор Йод', 'федор иод'],
    ['Hebrew', 'שָׁלוֹם', 'שלום'],
    ['Arabic', 'يُعقد أحمد إدارة مـــرحبا ٢٠٢٦', 'يعقد احمد اداره مرحبا 2026'],
    ['Persian', 'گزارش یک', 'گزارش يك'],
    ['Hindi', 'ज़रूरी \u095Bरूरी माँ २०२६', 'जरूरी जरूरी मां 2026'],
    ['Hindi with nasals', 'हिन्दी पङ्क पञ्च अण्डा सम्बन्ध', 'हिंदी पंक पंच अंडा संबंध'],
    ['Hindi with other nasals', 'अन्न जन्म नमक न्याय', 'अन्न जन्म नमक न्याय'],
    ['Japanese', 'ﾚﾎﾟｰﾄ ガイド ２０２６', 'レポート ガイド 2026'],
    ['Korean', '서울'.normalize('NFD'), '서울'],
    ['Thai', 'จำนวน ๒๐๒๖', 'จํานวน 2026'],
    ['ligatures and compatibility forms', 'ﬁne ㎏ ①²', 'fine kg 12'],
    ['what is not seen', 'a\u00ADb\u200Bc\uFEFFd\uFE0F', 'abcd'],
  ])('in %s', (_language, text, folded) => {
    expect(foldText(text)).toBe(folded)
    expect(foldText(text.normalize('NFD'))).toBe(folded)
  })

  test('once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text))
      }),
    )
  })

  test('by its clusters as a whole, in Devanagari', () => {
    const letters = fc.constantFrom(...Array.from('नमङदपकी्ं़ऩक़ँ\u200D\u0640 a'))
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 40 }), (text) => {
        expect(foldWithOffsets(text).folded).toBe(foldText(text))
        expect(foldText(foldText(text))).toBe(foldText(text))
      }),
      { numRuns: 1000 },
    )
  })

  test('by its clusters as a whole', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })),
        (text) => {
          expect(foldWithOffsets(text).folded).toBe(foldText(text))
        },
      ),
    )
  })
})

describe('of a run of marks', () => {
  const below = '\u0F71'
  const above = '\u0F39'

  test.each([
    ['behind each other', ''],
    ['with what has no width between', '\u200D'],
    ['with tatweel between', '\u0640'],
    ['with accents between', '\u0301'],
  ])('thirty are kept, %s', (_, between) => {
    const text = `x${`${above}${between}${below}`.repeat(20_000)}y`
    const { folded, offsets } = foldWithOffsets(text)
    expect(folded).toBe(foldText(text))
    expect(folded).toMatch(/^x\p{M}{1,30}y$/u)
    expect(offsets.slice(-2)).toEqual([text.length - 1, text.length])
  })

  test('no more are normalized', () => {
    const watch = vi.spyOn(String.prototype, 'normalize')
    foldText(`a${'\u0345'.repeat(1000)}${'\u0316'.repeat(1000)}b${'\uFF9E'.repeat(1000)}`)
    foldText(`a${`${'\u0F71\u0F39'.repeat(10)}\u200D`.repeat(100)}`)
    const texts = watch.mock.contexts.map(String)
    watch.mockRestore()
    const runs = texts.flatMap((text) => text.match(/[\p{M}\uFF9E\uFF9F]+/gu) ?? [])
    expect(Math.max(...runs.map(({ length }) => length))).toBe(30)
  })
})

test('offsets lead to where a folded character comes from', () => {
  const { folded, offsets } = foldWithOffsets('e\u0301 ß x')
  expect(folded).toBe('e ss x')
  expect(offsets).toEqual([0, 2, 3, 3, 4, 5, 6])
})
