import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { run } from '#cli/run.ts'
import { installRoot } from '#config/install-root.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

type Environment = Readonly<Record<string, string>>

const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  // What the program is compiled to is kept between calls: there are dozens.
  NODE_COMPILE_CACHE: join(installRoot(), 'node_modules/.compile-cache'),
}

/** One call of the command line, as its entry makes it, in this process: a start of Node costs more than a call. */
export async function croft(args: readonly string[], env: Environment = {}): Promise<Ran> {
  const written = { out: '', err: '' }
  const code = await run(args, {
    env,
    out: (line) => (written.out += `${line}\n`),
    err: (line) => (written.err += `${line}\n`),
    bytes: async (chunks) => {
      written.out += await text(chunks)
    },
  })
  return { code, ...written }
}

/** One call of the real program, with an environment that holds nothing else that it reads. */
export const program = (args: readonly string[], env: Environment = {}): Promise<Ran> =>
  ran([join(installRoot(), 'bin/croft.js'), ...args], env)

export function ran(argv: readonly string[], env: Environment): Promise<Ran> {
  const { promise, resolve, reject } = Promise.withResolvers<Ran>()
  const child = spawn(process.execPath, [...argv], {
    env: { ...ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.on('error', reject)
  child.on('close', (code) => resolve({ code, out, err }))
  return promise
}
