import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import process from 'node:process'

const BUBBLEWRAP = '/usr/bin/bwrap'
const PERL = '/usr/bin/perl'

/** Why walls around the sandbox cannot be tested here; undefined when they can. In CI that is an error. */
export function wallsMissing(): string | undefined {
  const why = missing()
  if (why !== undefined && process.env['CI']) throw new Error(why)
  return why
}

function missing(): string | undefined {
  if (process.platform !== 'linux') return 'the walls around the sandbox need Linux'
  for (const path of [BUBBLEWRAP, PERL]) if (!existsSync(path)) return `"${path}" is not installed`
  try {
    execFileSync(BUBBLEWRAP, ['--unshare-all', '--ro-bind', '/', '/', '/bin/true'], {
      stdio: 'pipe',
    })
    return undefined
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    return `bubblewrap does not work here: ${text}`
  }
}
