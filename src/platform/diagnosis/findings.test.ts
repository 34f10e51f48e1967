import { describe, expect, test } from 'vitest'

import { judgeClock, judgeServer } from './examine.ts'
import { Findings, reasonOf } from './finding.ts'
import { examineAddress, judgeBackup } from './installation-findings.ts'
import { examineDisks, judgeFiles, judgeMemory, openFilesIn } from './machine-findings.ts'
import { examineGateway, judgeEnd } from './mail-findings.ts'
import type { ServerFacts } from './postgres-queries.ts'
import { examineObjects, examineSharing } from './store-findings.ts'

const NOW = new Date('2026-11-24T08:00:00Z')
const HEALTHY: ServerFacts = {
  version: '17.6',
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  autovacuum: 'on',
  isStandby: false,
  maxConnections: 97,
  connections: 20,
  transactionAge: 1_000_000,
  replicas: 1,
  nowMs: NOW.getTime(),
}

const of = (judge: (findings: Findings) => unknown): string[] => {
  const findings = new Findings('part')
  judge(findings)
  return findings.all.map(({ level, says }) => `${level}: ${says}`)
}

describe('a server', () => {
  test('that keeps what it acknowledges is no problem', () => {
    expect(of((findings) => judgeServer(findings, HEALTHY))).toEqual([])
  })

  test.each<[Partial<ServerFacts>, string]>([
    [{ fsync: 'off' }, 'problem: fsync is off, full_page_writes is on'],
    [{ fullPageWrites: 'off' }, 'problem: fsync is on, full_page_writes is off'],
    [{ synchronousCommit: 'off' }, 'problem: synchronous_commit is off'],
    [{ isStandby: true }, 'problem: the server is a standby, which takes no writes'],
    [{ autovacuum: 'off' }, 'warning: autovacuum is off'],
    [{ transactionAge: 1_200_000_000 }, 'problem: the oldest row is 1200 million transactions old'],
    [{ connections: 90 }, 'warning: 90 of 97 connections are in use'],
  ])('with %o is reported', (facts, told) => {
    expect(of((findings) => judgeServer(findings, { ...HEALTHY, ...facts }))).toEqual([told])
  })

  test.each([
    [500, []],
    [-1500, []],
    [7_200_000, ["warning: its clock is 7200.0 s ahead of this machine's"]],
    [-3500, ["warning: its clock is 3.5 s behind this machine's"]],
  ])('whose clock is %d ms ahead', (aheadMs, told) => {
    expect(of((findings) => judgeClock(findings, aheadMs))).toEqual(told)
  })
})

describe('a store', () => {
  const head = {} as never
  const stream = (bytes: Uint8Array) =>
    ({ head, body: new Blob([Uint8Array.from(bytes)]).stream() }) as never
  const storing = () => {
    const kept = new Map<string, Uint8Array>()
    return {
      kept,
      put: async (key: string, body: unknown) => {
        kept.set(key, body as Uint8Array)
        return head
      },
      get: async (key: string) => stream(kept.get(key) ?? new Uint8Array()),
      delete: async (key: string) => void kept.delete(key),
    }
  }

  test('that gives back what was written is well, and nothing is left in it', async () => {
    const store = storing()
    const findings = await examineObjects(store, 'the bucket "croft"')
    expect(findings).toMatchObject([{ part: 'objects', level: 'ok' }])
    expect([...store.kept.keys()]).toEqual([])
  })

  test.each([
    ['nothing', async () => undefined],
    ['other bytes', async () => stream(new Uint8Array(3))],
  ])('that returns %s is reported', async (what, get) => {
    const [found] = await examineObjects({ ...storing(), get }, 'the bucket "croft"')
    expect(found).toMatchObject({
      level: 'problem',
      says: `the bucket "croft" gives back ${what} after a write`,
    })
  })

  test('that refuses is reported with its reason', async () => {
    const put = async () => Promise.reject(new Error('AccessDenied'))
    const [found] = await examineObjects({ ...storing(), put }, 'the bucket "croft"')
    expect(found?.says).toContain('AccessDenied')
  })
})

describe('replicas', () => {
  const told = async (
    answer: 'ok' | 'down' | null,
    sharing: { replicas: number | undefined; objectsInFiles: boolean },
  ) => {
    const findings = await examineSharing({ ping: async () => answer }, sharing)
    return findings.map(({ part, level }) => `${part} ${level}`)
  }

  test.each([
    ['ok', 1, true, ['redis ok', 'replicas ok']],
    [null, 1, true, ['redis ok', 'replicas ok']],
    [null, undefined, true, ['redis ok', 'replicas ok']],
    ['down', 1, true, ['redis warning', 'replicas ok']],
    [null, 3, false, ['redis warning', 'replicas ok']],
    ['ok', 3, true, ['redis ok', 'replicas warning']],
  ] as const)(
    'with a Redis that is %s, %s of them, files %s',
    async (answer, replicas, files, levels) => {
      expect(await told(answer, { replicas, objectsInFiles: files })).toEqual(levels)
    },
  )
})

describe('a gateway', () => {
  test.each([
    [{ delivers: false, verify: async () => {} }, 'warning', 'kept here and not delivered'],
    [{ delivers: true, verify: async () => {} }, 'ok', 'takes mail from us'],
    [
      {
        delivers: true,
        verify: () => Promise.reject(new Error('smtps://croft:secret@mail.test refused')),
      },
      'problem',
      'smtps://…@mail.test refused',
    ],
  ])('%#', async (transport, level, words) => {
    const [found] = await examineGateway(transport)
    expect(found?.level).toBe(level)
    expect(found?.says).toContain(words)
    expect(found?.says).not.toContain('secret')
  })
})

test.each([
  ['2026-11-24T07:00:00Z', 'problem: it has expired at 2026-11-24T07:00:00.000Z'],
  ['2026-12-01T08:00:00Z', 'warning: it expires in 7 days'],
  ['2027-01-24T08:00:00Z', 'ok: it is good for 61 days'],
])('a certificate until %s', (ends, told) => {
  expect(of((findings) => judgeEnd(findings, 'cert.pem', new Date(ends), NOW))).toEqual([told])
})

test.each([
  [undefined, 'warning: there is none'],
  ['2026-11-24T07:30:00Z', 'ok: the last one has all up to 0 hours ago'],
  ['2026-11-23T06:00:00Z', 'warning: the last one is 26 hours old'],
])('a backup of %s', (last, told) => {
  const moment = last === undefined ? undefined : new Date(last)
  expect(of((findings) => judgeBackup(findings, moment, NOW))).toEqual([told])
})

test.each([
  ['http://localhost:8080', [], 'ok'],
  ['http://shop.localhost:8080', [], 'ok'],
  ['http://sites.example.com', [], 'warning'],
  ['https://sites.example.com', [], 'warning'],
  ['https://sites.example.com', ['10.0.0.0/8'], 'ok'],
])('an address of %s behind %o', (baseUrl, trustedProxies, level) => {
  expect(examineAddress({ baseUrl, trustedProxies }).map((found) => found.level)).toEqual([level])
})

test.each([
  [900, false, 'ok'],
  [150, false, 'warning'],
  [90, true, 'problem'],
])('a disk with %d MB above a reserve of 100', (freeMb, isFull, level) => {
  const MB = 2 ** 20
  const bytes = { freeBytes: freeMb * MB, totalBytes: 2000 * MB, reserveBytes: 100 * MB }
  const disks = [{ place: 'folder', path: '/data', ...bytes, isFull }] as const
  expect(examineDisks({ disks }).map((found) => found.level)).toEqual([level])
})

test('the open files of a process are read as the kernel writes them', () => {
  const limits = [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             95000                95000                processes ',
    'Max open files            1024                 1048576              files     ',
  ].join('\n')
  expect(openFilesIn(limits)).toBe(1024)
  expect(
    openFilesIn('Max open files            unlimited            unlimited            files'),
  ).toBe(Infinity)
  expect(openFilesIn('')).toBeUndefined()
  expect(of((findings) => judgeFiles(findings, 1024))).toEqual([
    'warning: only 1024 files may be open',
  ])
  expect(of((findings) => judgeFiles(findings, undefined))).toEqual([])
})

test.each([
  [8192, 4096, 'ok: site code may use 4096 MB of 8192 MB of memory'],
  [4096, 4096, 'warning: site code may use 4096 MB of 4096 MB of memory'],
])('memory of %d MB, of which code has %d', (machineMb, memoryMb, told) => {
  const sandbox = { hosts: 4, hostMemoryMb: 2048, memoryMb }
  expect(of((findings) => judgeMemory(findings, machineMb * 2 ** 20, sandbox))).toEqual([told])
})

test('a reason is short, and keeps no password', () => {
  expect(reasonOf(new Error('no connection to postgres://a:b@db.test/croft'))).toBe(
    'no connection to postgres://…@db.test/croft',
  )
  expect(reasonOf(new Error('x'.repeat(1000)))).toHaveLength(300)
})
