import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import type { Line } from './guest.ts'

const require = createRequire(import.meta.url)
const TIMEOUT_MS = 20_000
/** Deno's console, whose lines are kept: its levels are numbers. */
const KEPT = `
const lines = []
const levels = ['debug', 'info', 'warn', 'error', 'debug']
const { Console } = Deno[Deno.internal]
globalThis.console = new Console((text, level) => lines.push({ level: levels[level], text: text.replace(/\\n$/, '') }))`

/** Runs the body of an async function in the real Deno, and gives what its console printed. */
export async function runInDeno(body: string): Promise<Line[]> {
  const code = `${KEPT}
await (async () => {${body}
})()
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(lines)))
Deno.exit(0)`
  const running = promisify(execFile)(denoBinary(), ['eval', '--no-config', code], {
    env: { HOME: tmpdir(), NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' },
    timeout: TIMEOUT_MS,
    maxBuffer: 16 * 1024 * 1024,
  })
  const { stdout } = await running
  return JSON.parse(stdout) as Line[]
}

/** The npm package is a launcher; the binary itself is in the package of the platform. */
export function denoBinary(): string {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  const name = `@deno/${process.platform}-${process.arch}${libc}/package.json`
  const launcher = dirname(require.resolve('deno/package.json'))
  const folder = dirname(createRequire(join(launcher, 'bin.cjs')).resolve(name))
  return join(folder, process.platform === 'win32' ? 'deno.exe' : 'deno')
}
