import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'

import type { HostCommand } from './host-command.ts'
import { endGroup, firstInside, innerEnd, innerPid, type ProcessEnd } from './inner-process.ts'

const STDERR_LENGTH = 4000
const OUTLIVES_MS = 2000

export interface StartedProcess {
  readonly child: ChildProcess
  /** The end of what it has written to stderr. */
  readonly stderr: () => string
  /** Of the process that runs the entry, whatever is around it; 0 when it did not start. */
  readonly pid: () => number
  /** Ends it and what is around it. */
  readonly kill: () => void
  /** How the process that ran the entry ended, by what the child's `exit` tells. */
  readonly endOf: (end: ProcessEnd) => ProcessEnd
}

/**
 * Starts a process of the sandbox in a session of its own: Ctrl-C in the terminal is for the service, which still answers calls
 * while it drains. Its starter handles its `error` and its end.
 */
export function startProcess(command: HostCommand, stdout: 'ignore' | 'pipe'): StartedProcess {
  const { file, args, env, isNested } = command
  const child = spawn(file, [...args], {
    env: { ...env },
    cwd: '/',
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
  // Where bubblewrap's outer process ends early, the inner one waits for it for ever.
  child.on('exit', () => isNested && endGroup(child.pid ?? 0))
  let inner: number | undefined
  const pid = (): number => {
    const outer = child.pid ?? 0
    if (isNested && outer !== 0) inner ??= innerPid(outer)
    return inner ?? outer
  }
  return {
    child,
    stderr: () => stderr,
    pid,
    kill: () => {
      if (isNested && isRunning(child)) killInside(child, pid())
      else child.kill('SIGKILL')
      // What is around it ends with it. Should it not, nothing may wait for it for ever.
      if (isNested) setTimeout(() => isRunning(child) && child.kill('SIGKILL'), OUTLIVES_MS).unref()
    },
    endOf: (end) => (isNested ? innerEnd(end) : end),
  }
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null

/**
 * Kills the innermost process: those around it end with it, and tell how it ended. Were they killed, what it did by itself
 * a moment before would be forgotten, and who reaps what they leave is unknown.
 */
function killInside(child: ChildProcess, innermost: number): void {
  const outer = child.pid ?? 0
  const victim = innermost === outer ? firstInside(outer) : innermost
  try {
    if (victim === undefined) child.kill('SIGKILL')
    else process.kill(victim, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
