import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inject } from 'vitest'

import type { SandboxHostsDeps } from '#platform/sandbox-host/sandbox-hosts.ts'

let prelude: Promise<string> | undefined

/** The sandbox of this run's build, which starts with half the work that its sources take; its snapshot is made once. */
export async function builtSandbox(): Promise<
  Pick<SandboxHostsDeps, 'cacheDir' | 'entries' | 'prelude'>
> {
  const folder = join(inject('builtProgram'), 'sandbox')
  prelude ??= readFile(join(folder, 'prelude.js'), 'utf8')
  return {
    cacheDir: inject('snapshotFolder'),
    entries: { host: join(folder, 'main.js'), preparer: join(folder, 'preparer.js') },
    prelude: await prelude,
  }
}
