import { describe, expect, test } from 'vitest'

import { startChild } from './child-process.ts'

const node = (script: string) => startChild(process.execPath, ['-e', script])
const portOf = (line: string) => /^port (\d+)$/.exec(line)?.[1]

describe('a child process', () => {
  test('is waited for by a line that it prints', async () => {
    await using child = node(
      'console.log("starting"); console.log("port 80"); setInterval(() => {}, 1e3)',
    )
    expect(await child.line(portOf)).toBe('80')
    expect(await child.line((line) => (line === 'starting' ? true : undefined))).toBe(true)
  })

  test('reports the output of a process that ends before it prints the line', async () => {
    await using child = node('console.error("no such file"); process.exit(3)')
    await expect(child.line(portOf)).rejects.toThrow(/code 3[^]*no such file/)
  })

  test('reports a process that cannot be started', async () => {
    await using child = startChild('/nonexistent/program', [])
    await expect(child.line(portOf)).rejects.toThrow('ENOENT')
  })

  test('is gone after its disposal', async () => {
    const child = node('console.log("port 1"); setInterval(() => {}, 1e3)')
    await child.line(portOf)
    await child[Symbol.asyncDispose]()
    expect(child.process.signalCode).toBe('SIGTERM')
  })
})
