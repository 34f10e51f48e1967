import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

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

test('offsets lead to where a folded character comes from', () => {
  const { folded, offsets } = foldWithOffsets('e\u0301 ß x')
  expect(folded).toBe('e ss x')
  expect(offsets).toEqual([0, 2, 3, 3, 4, 5, 6])
})
