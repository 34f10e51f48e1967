import type { TestSandbox } from '#test/test-sandbox.ts'

import { CALL_MODULE, type FunctionFiles, type Observed, SCRIPT } from './function-files.ts'

/** Lifted as far as the files need: what they print is compared whole. */
const LIMITS = {
  cpuMs: 5_000,
  logLineLength: 1 << 20,
  logLines: 10_000,
  resultBytes: 1 << 20,
}
const AT_ONCE = 8

/** Calls each file as the function of a site of its own. */
export async function runInSandbox(
  sandbox: TestSandbox,
  files: FunctionFiles,
): Promise<Observed[]> {
  const observed: Observed[] = []
  const left = [...files.names.entries()]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift())
      observed[next[0]] = await observe(sandbox, next[1], files.texts)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return observed
}

async function observe(
  sandbox: TestSandbox,
  name: string,
  texts: FunctionFiles['texts'],
): Promise<Observed> {
  const main = `import handler from './${name}'
import { outcomeOf } from './call.js'
export default () => outcomeOf(handler)`
  const prepared = await sandbox.hosts.prepare('site', {
    entry: 'main.js',
    files: new Map([...filesOf(name, texts), ['main.js', main], ['call.js', CALL_MODULE]]),
  })
  if (!prepared.ok) return { outcome: JSON.stringify(prepared.fault), stdout: '', stderr: '' }
  const program = sandbox.programOf(prepared.modules, { limits: LIMITS })
  const called = await sandbox.call(program)
  const lines = sandbox.linesOf(program)
  sandbox.hosts.retire(program)
  const printed = (isError: boolean): string =>
    lines
      .filter(({ level }) => (level === 'warn' || level === 'error') === isError)
      .map(({ message }) => `${message}\n`)
      .join('')
  return {
    outcome: called.ok ? String(JSON.parse(called.result)) : JSON.stringify(called.failure),
    stdout: printed(false),
    stderr: printed(true),
  }
}

/** The file itself and the data in its folder. */
function filesOf(name: string, texts: FunctionFiles['texts']): [path: string, text: string][] {
  const folder = name.slice(0, name.indexOf('/') + 1)
  return [...texts].filter(
    ([path]) => path === name || (path.startsWith(folder) && !SCRIPT.test(path)),
  )
}
