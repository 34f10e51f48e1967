import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pino } from 'pino'
import { expect, test, vi } from 'vitest'

import { SoonFlushed } from './soon-flushed.ts'

test('writes what was gathered a moment later, and at once on flush', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'croft-log-'))
  const dest = join(folder, 'log')
  try {
    const output = new SoonFlushed(pino.destination({ dest, sync: false, minLength: 4096 }))
    output.write('one\n')
    output.write('two\n')
    await vi.waitFor(async () => expect(await readFile(dest, 'utf8')).toBe('one\ntwo\n'))
    output.write('three\n')
    await vi.waitFor(async () => expect(await readFile(dest, 'utf8')).toBe('one\ntwo\nthree\n'))
    output.write('last\n')
    output.flushSync()
    expect(await readFile(dest, 'utf8')).toBe('one\ntwo\nthree\nlast\n')
  } finally {
    await rm(folder, { recursive: true })
  }
})
