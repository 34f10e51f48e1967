import { Type } from '@sinclair/typebox'

import type { CliCommand } from './command.ts'

const Diagnosis = Type.Object({
  status: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
  walls: Type.Array(
    Type.Object({
      wall: Type.String(),
      stands: Type.Boolean(),
      reason: Type.Union([Type.String(), Type.Null()]),
      needed: Type.Boolean(),
    }),
  ),
})

/** What each wall is for, told to whoever reads that it does not stand. */
const MEANINGS: Readonly<Record<string, string>> = {
  files: 'sees only its own files',
  network: 'has no network',
  processes: 'sees no other process',
  syscalls: 'may ask the kernel for little',
  user: 'runs as a user of its own',
  permissions: 'is kept by Node from files and programs',
  limits: 'has few files, small ones, and leaves no core',
  memory: 'is bounded in memory by the kernel',
}

export const doctor: CliCommand = {
  name: 'doctor',
  summary: 'What answers, and which walls stand around site code',
  options: [],
  async run({ service }) {
    const diagnosis = await service.portalAs(Diagnosis, 'GET', '/diagnosis')
    const checks = Object.entries(diagnosis.checks).map(([part, check]) =>
      line(check === 'ok', part, check === 'ok' ? 'answers' : check),
    )
    const walls = diagnosis.walls.map(({ wall, stands, reason }) => {
      const meaning = MEANINGS[wall] ?? wall
      return line(stands, wall, stands ? meaning : `${reason ?? 'unknown'} (else it ${meaning})`)
    })
    const isJail = diagnosis.walls.every(({ stands, needed }) => stands || !needed)
    return {
      json: diagnosis,
      text: ['The service:', ...checks, '', 'What runs site code:', ...walls].join('\n'),
      failed: diagnosis.status !== 'ready' || !isJail,
    }
  },
}

const line = (isWell: boolean, name: string, text: string): string =>
  `  ${isWell ? '✓' : '✗'} ${name}: ${text}`
