import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'

import type { CallStretch } from '#platform/sandbox-host/sandbox.ts'

import { CpuProfile, CpuProfileBuilder } from './cpu-profile.ts'

type Node = CallStretch['nodes'][number]

const node = (id: number, functionName: string, children: number[], url = '', line = 0): Node => ({
  id,
  functionName,
  children,
  url,
  line,
  column: line,
})

const stretch = (startTime: number, nodes: readonly Node[]): CallStretch => ({
  startTime,
  endTime: startTime + 30,
  samples: [4, 5, 4],
  offsets: [10, 20, 25],
  nodes,
})

const NODES = [
  node(1, '(root)', [2]),
  node(2, 'run', [3], 'croft:prelude', 1),
  node(3, 'startCall', [4], 'croft:prelude', 1),
  node(4, 'handler', [5], 'src/main.ts', 3),
  node(5, 'hash', [], 'lib/a.bundle.mjs', 7),
]

const build = (stretches: readonly CallStretch[]): CpuProfile => {
  const builder = new CpuProfileBuilder((place) =>
    place.path === 'lib/a.bundle.mjs' ? { path: 'lib/a.ts', line: 9, column: 2 } : place,
  )
  for (const one of stretches) builder.add(one)
  return builder.profile()
}

describe('a CPU profile', () => {
  const profile = build([stretch(1000, NODES), stretch(2000, NODES)])
  const named = (name: string) =>
    profile.nodes.filter(({ callFrame }) => callFrame.functionName === name)

  test('is one tree of all calls, with ours folded and the places that were written', () => {
    expect(Value.Check(CpuProfile, profile)).toBe(true)
    expect(named('(runtime)')).toHaveLength(1)
    expect(named('handler')).toMatchObject([
      { hitCount: 4, callFrame: { url: 'src/main.ts', lineNumber: 2, columnNumber: 2 } },
    ])
    expect(named('hash')).toMatchObject([
      { hitCount: 2, callFrame: { url: 'lib/a.ts', lineNumber: 8, columnNumber: 1 } },
    ])
    expect(JSON.stringify(profile)).not.toContain('croft:')
  })

  test('has ids, samples and times that fit each other, as DevTools reads them', () => {
    const ids = new Set(profile.nodes.map(({ id }) => id))
    expect(ids.size).toBe(profile.nodes.length)
    expect(profile.samples.every((id) => ids.has(id))).toBe(true)
    const children = profile.nodes.flatMap((one) => one.children)
    expect(new Set(children).size).toBe(children.length)
    expect(children).toHaveLength(ids.size - 1)
    expect(profile.timeDeltas).toHaveLength(profile.samples.length)
    expect(profile.timeDeltas.reduce((sum, delta) => sum + delta, 0)).toBeLessThanOrEqual(
      profile.endTime - profile.startTime,
    )
    expect(profile).toMatchObject({ startTime: 1000, endTime: 2030 })
  })

  test('counts what is between calls as idle', () => {
    expect(named('(idle)')).toMatchObject([{ hitCount: 1 }])
    expect(profile.timeDeltas[3]).toBe(970)
  })

  test('ends where nodes are made up: circles, strangers and a depth without end', () => {
    const circle = [
      node(1, '(root)', [4]),
      node(4, 'a', [1, 5, 9], 'a.ts', 1),
      node(5, 'b', [4], 'b.ts', 1),
    ]
    expect(build([stretch(0, circle)]).nodes.length).toBeLessThan(10)
    const deep = Array.from({ length: 5000 }, (_, at) =>
      node(at + 1, `f${at}`, [at + 2], 'a.ts', 1),
    )
    expect(build([stretch(1, deep)]).nodes.length).toBeLessThan(200)
  })
})
