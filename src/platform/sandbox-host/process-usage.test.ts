import { readFileSync } from 'node:fs'
import process from 'node:process'

import { describe, expect, test } from 'vitest'

import { cpuMs, rssBytes } from './process-usage.ts'

const MIB = 1024 * 1024

const gone = (): number => Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8')) + 1

test.skipIf(process.platform !== 'linux')('a process that is gone uses no processor time', () => {
  expect(cpuMs(gone())).toBeUndefined()
  expect(cpuMs(0)).toBeUndefined()
  const used = cpuMs(process.pid) ?? 0
  expect(Math.abs(used - process.cpuUsage().user / 1000)).toBeLessThan(used)
})

describe.skipIf(process.platform !== 'linux')('the memory of a process', () => {
  test('is what the process itself reads of it', () => {
    const own = process.memoryUsage.rss()
    expect(Math.abs(rssBytes(process.pid) - own)).toBeLessThan(own / 4)
    expect(own).toBeGreaterThan(16 * MIB)
  })

  test('is none of a process that is gone, or of the kernel', () => {
    expect(rssBytes(0)).toBe(0)
    expect(rssBytes(gone())).toBe(0)
  })
})
