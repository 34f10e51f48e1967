import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import type { Line } from './guest.ts'

const PACKAGES = resolve(import.meta.dirname, '../../../peers/node_modules/@deno')
const TIMEOUT_MS = 20_000
const MISSING = 'Deno is missing: "npm run peers" installs it'
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

/** Absolute path. The npm package is a launcher; the binary itself is in the package of the platform. */
export function denoBinary(): string {
  const file = denoFile()
  if (!existsSync(file)) throw new Error(MISSING)
  return file
}

/** Why tests on Deno cannot run here, or undefined. In CI that is a failure, not a skip. */
export function denoMissing(): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- of the test runner, not of a sandbox
  return existsSync(denoFile()) || process.env['CI'] !== undefined ? undefined : MISSING
}

function denoFile(): string {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  const name = process.platform === 'win32' ? 'deno.exe' : 'deno'
  return join(PACKAGES, `${process.platform}-${process.arch}${libc}`, name)
}
