import { expect, test } from 'vitest'

import { openSandboxPrograms } from '#platform/sandbox-host/sandbox-programs.ts'
import { sandboxProgram } from '#test/sandbox-processes.ts'

const programOf = (path: string) =>
  sandboxProgram({ command: `/usr/bin/node --no-addons ${path} ` })

test('processes of the sandbox are known where sources run, by the paths that a service gives them', async () => {
  const { entries, mailParser } = await openSandboxPrograms({ warn: () => {} })
  expect(programOf(entries.host)).toBe('host')
  expect(programOf(entries.preparer)).toBe('preparer')
  expect(programOf(mailParser)).toBe('mail parser')
})

test.each([
  ['/srv/croft/dist/sandbox/main.js', 'host'],
  ['/srv/croft/sandbox/main.ts', 'host'],
  ['/srv/croft/dist/sandbox/preparer.js', 'preparer'],
  ['/srv/croft/dist/sandbox/probe.js', undefined],
  ['/srv/croft/src/main.ts', undefined],
  ['/srv/sandbox/croft/main.js', undefined],
])('%s is one of %s', (path, program) => {
  expect(programOf(path)).toBe(program)
})
