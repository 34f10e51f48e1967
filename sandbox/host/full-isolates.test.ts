import { expect, test } from 'vitest'

import { FullIsolates } from './full-isolates.ts'
import type { GuestIsolate } from './isolate.ts'

const MIB = 1024 * 1024
const isolate = (programKey: string, part: object = {}): GuestIsolate =>
  ({
    programKey,
    memoryMb: 64,
    isFull: true,
    activeCalls: 1,
    disposed: false,
    ...part,
  }) as GuestIsolate

function watched(memoryMb: number) {
  const isolates: GuestIsolate[] = []
  const told: string[] = []
  const full = new FullIsolates(() => isolates, {
    memoryBytes: memoryMb * MIB,
    outbox: { crowded: (siteId, isCrowded) => told.push(`${siteId} ${isCrowded}`) },
  })
  const add = (...added: GuestIsolate[]) => {
    isolates.push(...added)
    for (const one of added) full.look(one)
  }
  return { full, add, told }
}

test('a site whose open calls fill four isolates is crowded until one of them is free', () => {
  const { full, add, told } = watched(4096)
  const ended = isolate('one@1')
  add(ended, isolate('one@1'), isolate('two@1'), isolate('one@2'))
  add(isolate('one@2', { isFull: false }), isolate('one@2', { activeCalls: 0 }))
  expect(told).toEqual([])
  add(isolate('one@2'), isolate('one@2'))
  expect(told).toEqual(['one true'])
  Object.assign(ended, { activeCalls: 0 })
  full.look(ended)
  expect(told).toEqual(['one true'])
  const next = isolate('one@2', { isFull: false })
  add(next)
  expect(told).toEqual(['one true'])
})

test('they are fewer where the process has little memory, and never none', () => {
  const { full, add, told } = watched(256)
  const only = isolate('one@1')
  add(only)
  expect(told).toEqual(['one true'])
  Object.assign(only, { disposed: true })
  full.look(only)
  expect(told).toEqual(['one true', 'one false'])
})
