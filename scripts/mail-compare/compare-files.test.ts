import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { message, multipart, plain } from '#corpus/readings/entity.ts'
import { readings } from '#corpus/readings/readings.ts'

import { ALLOWED } from './allowed-differences.ts'
import { compareFiles, type ComparedFile, type MailFile } from './compare-files.ts'
import { type Expectation, expectationOf } from './expectation.ts'
import { pythonMissing } from './python-reader.ts'

const SEED = 1
const DOCUMENTATION = new URL('../../docs/reference/mail-reader-differences.md', import.meta.url)
const READINGS = readings(SEED)

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'croft-mail-compare-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

async function written(name: string, raw: Buffer, expected: Expectation): Promise<MailFile> {
  const path = join(folder, `${name}.eml`)
  await writeFile(path, raw)
  return {
    name,
    path,
    raw: () => Promise.resolve(raw),
    expectation: () => Promise.resolve(expected),
  }
}

const missing = pythonMissing()
const options = { hasReference: missing === undefined }

describe('readings', () => {
  test('are at least 300, each with a name of its own, and the same for the same seed', () => {
    expect(READINGS.length).toBeGreaterThanOrEqual(300)
    expect(new Set(READINGS.map(({ name }) => name)).size).toBe(READINGS.length)
    expect(readings(SEED)).toEqual(READINGS)
    expect(readings(SEED + 1)).not.toEqual(READINGS)
  })

  test.each([SEED, SEED + 1])('are shown as they expect, those of seed %i', async (seed) => {
    const files = readings(seed).map(({ name, raw, expected }) => ({
      name,
      path: '',
      raw: () => Promise.resolve(raw),
      expectation: () => Promise.resolve(expectationOf(expected)),
    }))
    const compared = await all(files, { hasReference: false })
    expect(compared.filter(({ faults }) => faults.length > 0)).toEqual([])
  })

  test.skipIf(missing)(
    'differ from Python for the reasons that are listed, and each for one',
    async () => {
      const files = await Promise.all(READINGS.map(({ name, raw }) => written(name, raw, {})))
      const compared = await all(files, options)
      expect(compared.filter(({ faults }) => faults.length > 0)).toEqual([])
      const reasons = new Set(
        compared.flatMap(({ allowed }) => allowed.map(({ reason }) => reason)),
      )
      expect([...reasons].toSorted()).toEqual(ALLOWED.map(({ reason }) => reason).toSorted())
    },
  )

  test('have the reasons of their differences in the documentation', async () => {
    const page = await readFile(DOCUMENTATION, 'utf8')
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(ALLOWED.map(({ reason }) => reason))
  })
})

describe('a comparison', () => {
  const raw = message(multipart('mixed', [plain('Größe')]), ['Subject: words'])

  test('names what is shown otherwise than expected', async () => {
    const expected: Expectation = {
      subject: 'other words',
      text: 'Größe',
      html: 'x',
      attachments: [{ filename: 'a.pdf' }],
    }
    const file = await written('wrong', raw, expected)
    const [compared] = await all([file], { hasReference: false })
    expect(compared?.faults).toEqual([
      { field: 'subject', expected: '"other words"', shown: '"words"' },
      { field: 'html', expected: 'x', shown: 'null' },
      { field: 'attachments', expected: 'a.pdf', shown: '' },
    ])
  })

  test.skipIf(missing)('finds no difference in a message that is as it should be', async () => {
    const file = await written('right', raw, {})
    expect(await all([file], options)).toEqual([{ name: 'right', faults: [], allowed: [] }])
  })
})

const all = (files: readonly MailFile[], how: typeof options): Promise<ComparedFile[]> =>
  Array.fromAsync(compareFiles(files, how))
