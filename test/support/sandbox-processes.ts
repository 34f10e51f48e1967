import { isNode, type RunningProcess } from './process-table.ts'

/** A build has them in `sandbox`; sources run what was built of them into a folder named for their state. */
const PROGRAM = /\/sandbox(?:-[0-9a-f]+)?\/(main|preparer|mail-parser)\.[jt]s\b/

export type SandboxProgram = 'host' | 'preparer' | 'mail parser'

const PROGRAMS: Readonly<Record<string, SandboxProgram>> = {
  main: 'host',
  preparer: 'preparer',
  'mail-parser': 'mail parser',
}

/** The program of the sandbox that a process runs, or is a wall around; undefined for any other process. */
export const sandboxProgram = ({
  command,
}: Pick<RunningProcess, 'command'>): SandboxProgram | undefined =>
  PROGRAMS[PROGRAM.exec(command)?.[1] ?? '']

/** Whether a process runs that program itself, and is no wall around it. */
export const runs = (one: RunningProcess, program: SandboxProgram): boolean =>
  isNode(one) && sandboxProgram(one) === program
