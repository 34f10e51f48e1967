import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const TIMEOUT_MS = 5000
const MAX_OUTPUT_BYTES = 1024 * 1024
/** Nothing that the repository configures is run. */
const SETTINGS = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export interface GitFolderState {
  readonly commit: string
  /** Null when no branch is checked out. */
  readonly branch: string | null
  /** Whether the folder has changes that are not committed. */
  readonly dirty: boolean
}

/** What git knows of a folder; undefined for one that is in no repository, or where git does not answer. */
export async function gitFolderState(folder: string): Promise<GitFolderState | undefined> {
  const commit = await git(folder, ['rev-parse', '--verify', '--quiet', 'HEAD'])
  if (commit === undefined || !COMMIT.test(commit)) return undefined
  const branch = await git(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const changes = await git(folder, ['status', '--porcelain', '--', '.'])
  // What is too long to be read is long enough.
  return { commit, branch: branch ?? null, dirty: changes !== '' }
}

/** What it printed; undefined when it failed, took too long or printed too much. */
async function git(folder: string, args: readonly string[]): Promise<string | undefined> {
  // oxlint-disable-next-line node/no-process-env -- the environment of the operator's own git
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' }
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...SETTINGS, ...args], {
      env,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    })
    return stdout.trim()
  } catch {
    return undefined
  }
}
