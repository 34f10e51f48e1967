import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ifMissing } from '#base/error-code.ts'
import { TracedFiles } from '#test/power-cut/power-cuts.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

let cleanUp: AsyncDisposableStack
beforeAll(() => {
  cleanUp = new AsyncDisposableStack()
})
afterAll(() => cleanUp.disposeAsync())

/** What may be in `/disk/a` and `/disk/b`, and in `/disk/sub/a` if calls name it, after a power cut behind all of them. */
async function left(...calls: readonly string[]): Promise<string[]> {
  const folder = await temporaryFolder(cleanUp, 'croft-durable-')
  const log = join(folder, 'log')
  await writeFile(log, calls.map((call, at) => `7 1764379023.${at} ${call}`).join('\n'))
  const files = new TracedFiles({ log, root: '/disk' })
  const found = new Set<string>()
  const lastLine = calls.length - 1
  const names = ['a', 'b', 'sub/a'].slice(0, calls.join('').includes('/disk/sub/a') ? 3 : 2)
  for (const cut of files.cuts()) {
    if (cut.line !== lastLine) continue
    const to = join(await temporaryFolder(cleanUp, 'croft-durable-'), 'disk')
    cut.restore(to)
    await mkdir(to, { recursive: true })
    const read = (name: string) => readFile(join(to, name), 'utf8').catch(ifMissing('-'))
    const texts = await Promise.all(names.map(async (name) => `${name}: ${await read(name)}`))
    found.add(texts.join(', '))
  }
  return [...found].toSorted()
}

const CREATE = 'openat(AT_FDCWD</>, "/disk/a", O_WRONLY|O_CREAT|O_EXCL, 0600) = 5</disk/a>'
const WRITE = 'write(5</disk/a>, "text", 4) = 4'
const FLUSH = 'fsync(5</disk/a>) = 0'
const FLUSH_FOLDER = 'fsync(6</disk>) = 0'
const RENAME = 'rename("/disk/a", "/disk/b") = 0'

describe('a power cut leaves of a new file', () => {
  test.each([
    ['its name or nothing, when nothing was flushed', [CREATE, WRITE], ['a: , b: -', 'a: -, b: -']],
    [
      'its bytes or nothing, when they were',
      [CREATE, WRITE, FLUSH],
      ['a: -, b: -', 'a: text, b: -'],
    ],
    ['an empty one, when only its folder was', [CREATE, WRITE, FLUSH_FOLDER], ['a: , b: -']],
    [
      'all, when another thread was quicker to say that it made the folder',
      [
        'mkdir("/disk/sub", 0700 <unfinished ...>',
        CREATE.replaceAll('/disk/a', '/disk/sub/a'),
        '<... mkdir resumed>) = 0',
        'rename("/disk/sub/a", "/disk/a") = 0',
        FLUSH_FOLDER,
      ],
      ['a: , b: -, sub/a: -'],
    ],
    [
      'all, when it and its folder were flushed before another thread said that it made the folder',
      [
        'mkdir("/disk/sub", 0700 <unfinished ...>',
        ...[CREATE, WRITE, FLUSH].map((call) => call.replaceAll('/disk/a', '/disk/sub/a')),
        'fsync(7</disk/sub>) = 0',
        FLUSH_FOLDER,
        '<... mkdir resumed>) = 0',
        CREATE.replaceAll('/disk/a', '/disk/b'),
      ],
      ['a: -, b: , sub/a: text', 'a: -, b: -, sub/a: text'],
    ],
    ['all, when both were', [CREATE, WRITE, FLUSH, FLUSH_FOLDER], ['a: text, b: -']],
    [
      'all, when it writes through',
      [CREATE.replace('O_EXCL', 'O_DSYNC'), WRITE, FLUSH_FOLDER],
      ['a: text, b: -'],
    ],
    [
      'one of its names, when it was renamed',
      [CREATE, WRITE, FLUSH, FLUSH_FOLDER, RENAME],
      ['a: -, b: text', 'a: text, b: -'],
    ],
    [
      'the old name, when the flush had begun before',
      [
        CREATE,
        WRITE,
        FLUSH,
        FLUSH_FOLDER,
        'fsync(6</disk> <unfinished ...>',
        RENAME,
        '<... fsync resumed>) = 0',
      ],
      ['a: -, b: text', 'a: text, b: -'],
    ],
    [
      'nothing of a flush that failed',
      [CREATE, WRITE, FLUSH.replace('= 0', '= -1 EIO (Input/output error)'), FLUSH_FOLDER],
      ['a: , b: -'],
    ],
  ])('%s', async (_what, calls, expected) => {
    expect(await left(...calls)).toEqual(expected)
  })
})
