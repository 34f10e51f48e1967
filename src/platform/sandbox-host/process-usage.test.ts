import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'

import { describe, expect, test, vi } from 'vitest'

import { cpuMs, isStopped, rssBytes } from './process-usage.ts'

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

test.skipIf(process.platform !== 'linux')('a process is stopped until SIGCONT', async () => {
  const child = spawn('cat')
  const pid = child.pid ?? 0
  try {
    await once(child, 'spawn')
    expect(isStopped(pid)).toBe(false)
    child.kill('SIGSTOP')
    await vi.waitFor(() => expect(isStopped(pid)).toBe(true))
    child.kill('SIGCONT')
    await vi.waitFor(() => expect(isStopped(pid)).toBe(false))
  } finally {
    child.kill('SIGKILL')
  }
  expect(isStopped(0)).toBe(false)
  expect(isStopped(gone())).toBe(false)
})
