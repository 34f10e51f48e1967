import { type ChildProcess, spawn } from 'node:child_process'

import type { HostCommand } from './host-command.ts'

const STDERR_LENGTH = 4000

export interface StartedProcess {
  readonly child: ChildProcess
  /** The end of what it has written to stderr. */
  readonly stderr: () => string
}

/**
 * Starts a process of the sandbox in a session of its own: Ctrl-C in the terminal is for the service, which still answers
 * calls while it drains. Whoever starts it hears of its `error` and its end.
 */
export function startProcess(command: HostCommand, stdout: 'ignore' | 'pipe'): StartedProcess {
  const child = spawn(command.file, [...command.args], {
    env: { ...command.env },
    stdio: ['pipe', stdout, 'pipe'],
    detached: true,
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_LENGTH)
  })
  child.stdin?.on('error', () => {
    // The process is gone; its exit says so.
  })
  return { child, stderr: () => stderr }
}
