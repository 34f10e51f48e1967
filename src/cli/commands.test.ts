import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'

import { listedAs } from './command-listing.ts'
import type { ShownCommand } from './command.ts'
import { allCommands, listedCommands } from './commands.ts'
import { createProgram } from './program.ts'

/** Prints the address of each module that a program loads. */
const TELL = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => {
  if (!url.startsWith('node:')) process.stderr.write('loads ' + url + '\\n')
  return next(url, context)
} })`

/** Finding, reading and compiling one takes about a third of a millisecond. */
const MOST_MODULES = 40

const PARTS = [
  ['--version'],
  ['help'],
  ['help', 'site', 'create'],
  ['site', 'create', '--help'],
  ['site'],
  ['help', 'mailbox'],
]

async function modulesOf(args: readonly string[]): Promise<readonly string[]> {
  const root = installRoot()
  const tell = `data:text/javascript,${encodeURIComponent(TELL)}`
  const program = join(root, 'src/cli/main.ts')
  const call = [process.execPath, ['--import', tell, program, ...args]] as const
  // A group alone is called wrongly.
  const { stderr } = await promisify(execFile)(...call, { cwd: root }).catch((error: unknown) => {
    if (error instanceof Error && 'stderr' in error) return { stderr: String(error.stderr) }
    throw error
  })
  return stderr.split('\n').filter((line) => line.startsWith('loads '))
}

test.each(PARTS)('croft %s %s %s loads few modules', { timeout: 60_000 }, async (...args) => {
  const modules = await modulesOf(args.filter((word) => word !== undefined))
  expect(modules.length).toBeGreaterThan(5)
  expect(modules.length).toBeLessThanOrEqual(MOST_MODULES)
  expect(modules.filter((name) => name.includes('typebox'))).toEqual([])
})

/** To write it again: `npx vitest run --project unit src/cli/commands.test.ts -u`. */
test('the list of commands says what the commands say', { timeout: 60_000 }, async () => {
  const list = (await allCommands()).map(listedAs)
  await expect(`${JSON.stringify(list, null, 2)}\n`).toMatchFileSnapshot('./command-list.json')
})

test('help from the list is the help of the commands', { timeout: 60_000 }, async () => {
  const [shown, loaded] = [helpOf(listedCommands()), helpOf(await allCommands())]
  expect(shown.size).toBeGreaterThan(80)
  expect([...shown]).toEqual([...loaded])
})

function helpOf(commands: readonly ShownCommand[]): ReadonlyMap<string, string> {
  const exit = (error: Error): never => {
    throw error
  }
  const program = createProgram(commands, { run: () => Promise.resolve(), exit, out: () => {} })
  const texts = new Map([['', program.helpInformation()]])
  const walk = (parent: typeof program): void => {
    for (const command of parent.commands) {
      texts.set(`${parent.name()} ${command.name()}`, command.helpInformation())
      walk(command)
    }
  }
  walk(program)
  return texts
}
