import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ORIGIN } from './resources.ts'
import type { TestFile } from './test-file.ts'

const HARNESS = 'resources/testharness.js'

/** What the tests find in a browser and not elsewhere: names of the global object, and a base for relative addresses. */
const before = (address: string): string => `(() => {
const { conformance } = globalThis
delete globalThis.conformance
const fetchWhole = conformance.fetch ?? globalThis.fetch
const location = new URL(${JSON.stringify(address)})
const isRelative = (input) => typeof input === 'string' && !/^[a-z][a-z0-9+.-]*:/i.test(input)
const never = () => false
globalThis.self ??= globalThis
globalThis.location = location
globalThis.GLOBAL = { isWindow: never, isWorker: never, isShadowRealm: never }
globalThis.importScripts = () => {}
globalThis.fetch = function fetch(input) {
  return fetchWhole.apply(this, isRelative(input)
    ? [new URL(input, location).href, ...[...arguments].slice(1)]
    : arguments)
}
globalThis.conformanceReport = conformance.report
})();`

/** Takes out what the harness finds, one subtest at a time. */
const LISTEN = `(() => {
const { conformanceReport: report } = globalThis
delete globalThis.conformanceReport
add_result_callback(({ name, status, message, PASS }) =>
  report({ name: String(name), outcome: status === PASS ? 'passed' : 'failed', message: String(message ?? '').slice(0, 400) }))
add_completion_callback(() => report({ done: true }))
})();`

/** A test file with the harness and its scripts as one script. Throws where one of them is missing. */
export async function testProgram(root: string, file: TestFile, variant: string): Promise<string> {
  const page = file.path.replace(/\.js$/, '.html')
  const read = async (path: string): Promise<string> => {
    try {
      return await readFile(join(root, path), 'utf8')
    } catch (cause) {
      throw new Error(`"${file.path}" needs "${path}", which is missing`, { cause })
    }
  }
  const paths = [HARNESS, ...file.scripts, file.path]
  const [harness = '', ...scripts] = await Promise.all(paths.map(read))
  const parts = [before(`${ORIGIN}/${page}${variant}`), harness, LISTEN, ...scripts]
  return `${parts.join('\n;\n')}\n//# sourceURL=${file.path}`
}
