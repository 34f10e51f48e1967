import { expect, test } from 'vitest'

import { type MemoryReading, parseFiles, sharesAlone } from './rest/process-share.ts'

const SMAPS = `55d0-55d8 r--p 00000000 fe:00 11    /opt/node
Rss:                 100 kB
Pss:                  50 kB
Anonymous:             0 kB
55d8-55d9 rw-p 00100000 fe:00 11    /opt/node
Rss:                  40 kB
Anonymous:            30 kB
7f00-7f01 rw-p 00000000 00:00 0
Rss:                 900 kB
Anonymous:           900 kB
7f02-7f03 rw-s 00000000 00:01 12    /dev/zero (deleted)
Rss:                 500 kB
Anonymous:             0 kB
VmFlags: rd wr
`

const reading = (anonymousKb: number, files: Record<string, number>): MemoryReading => ({
  pssKb: 0,
  anonymousKb,
  sharedKb: 5,
  files: new Map(Object.entries(files)),
})

test('the pages of a file are those that the process has not made its own', () => {
  expect([...parseFiles(SMAPS)]).toEqual([['/opt/node', 110]])
})

test('processes share the pages of their files by what each has of them, whatever is outside', () => {
  const shares = sharesAlone(
    new Map([
      [1, reading(10, { node: 60, libc: 4 })],
      [2, reading(20, { node: 20 })],
    ]),
  )
  // Of 60 KiB the one has three quarters.
  expect([...shares]).toEqual([
    [1, 10 + 5 + 45 + 4],
    [2, 20 + 5 + 15],
  ])
})
