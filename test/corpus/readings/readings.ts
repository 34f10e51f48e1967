import { attachmentReadings } from './attachment-readings.ts'
import { BOUNDARIES } from './boundary-readings.ts'
import { charsetReadings } from './charset-readings.ts'
import { NESTED, REPORTS, SECURED } from './container-readings.ts'
import { CONTENT_TYPES } from './content-type-readings.ts'
import { FAULTS } from './fault-readings.ts'
import { FILENAMES } from './filename-readings.ts'
import { ADDRESSES, ENCODED_WORDS } from './header-readings.ts'
import { PAGES } from './html-readings.ts'
import { LABELS } from './label-readings.ts'
import { ODD_ENCODINGS } from './odd-encoding-readings.ts'
import { PREAMBLES } from './preamble-readings.ts'
import { RAW_HEADERS } from './raw-header-readings.ts'
import type { Reading } from './reading.ts'
import { Seeded } from './seeded.ts'
import { STRUCTURES } from './structure-readings.ts'
import { TEXTS } from './text-readings.ts'

/** Messages of every kind that a reader has to understand, each with what it has to show. The same for the same seed. */
export function readings(seed: number): readonly Reading[] {
  const seeded = new Seeded(seed)
  return withNamesOfTheirOwn([
    ...charsetReadings(seeded),
    ...LABELS,
    ...RAW_HEADERS,
    ...ENCODED_WORDS,
    ...ADDRESSES,
    ...attachmentReadings(seeded),
    ...ODD_ENCODINGS,
    ...FILENAMES,
    ...STRUCTURES,
    ...PREAMBLES,
    ...NESTED,
    ...SECURED,
    ...REPORTS,
    ...CONTENT_TYPES,
    ...BOUNDARIES,
    ...FAULTS,
    ...TEXTS,
    ...PAGES,
  ])
}

/** What differs in signs that no file name has is numbered. */
function withNamesOfTheirOwn(found: readonly Reading[]): Reading[] {
  const seen = new Map<string, number>()
  return found.map((reading) => {
    const count = (seen.get(reading.name) ?? 0) + 1
    seen.set(reading.name, count)
    return count === 1 ? reading : { ...reading, name: `${reading.name}-${count}` }
  })
}
