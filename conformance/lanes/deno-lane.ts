import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { denoBinary } from '#sandbox/guest/testing/deno.ts'

import type { JobOutcome, JobRunner } from './lane.ts'
import type { Ending, Finding, Job } from './protocol.ts'

/** Before each line that is a finding. */
const MARK = 'conformance '
const START = `const { log } = console
const { stringify } = JSON
globalThis.conformance = { report: (finding) => log('${MARK}' + stringify(finding)) }`
/** What a function is given too. */
const FLAGS = ['run', '--quiet', '--no-prompt', '--no-remote', '--no-config', '--allow-env']

/** Runs each job in a process of the real Deno, without permissions. */
export class DenoLane implements JobRunner {
  readonly #jobMs: number

  constructor(jobMs: number) {
    this.#jobMs = jobMs
  }

  async run({ source }: Job): Promise<JobOutcome> {
    const folder = await mkdtemp(join(tmpdir(), 'conformance-deno-'))
    try {
      await writeFile(join(folder, 'start.js'), START)
      await writeFile(join(folder, 'tests.js'), source)
      await writeFile(join(folder, 'main.js'), `import './start.js'\nimport './tests.js'\n`)
      return await runMain(folder, this.#jobMs)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function runMain(folder: string, jobMs: number): Promise<JobOutcome> {
  const env = { DENO_DIR: folder, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', HOME: folder }
  const child = spawn(denoBinary(), [...FLAGS, join(folder, 'main.js')], { cwd: folder, env })
  const findings: Finding[] = []
  let errors = ''
  child.stdin.end()
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-2000)
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith(MARK)) return
    const finding = JSON.parse(line.slice(MARK.length)) as Finding
    findings.push(finding)
    if ('done' in finding) child.kill('SIGKILL')
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), jobMs)
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', (status: number | null) => resolve(status))
  })
  clearTimeout(timer)
  const ending = endingOf(findings, code)
  return { findings, ending, message: ending === 'completed' ? '' : errors }
}

function endingOf(findings: readonly Finding[], code: number | null): Ending {
  if (findings.some((finding) => 'done' in finding)) return 'completed'
  if (code === null) return 'timeout'
  return code === 0 ? 'stuck' : 'crashed'
}
