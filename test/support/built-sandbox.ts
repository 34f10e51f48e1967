import { join } from 'node:path'

import { inject } from 'vitest'

import { mailParserCommand } from '#platform/mail-parser/process-mail-parser.ts'
import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import type { Jail } from '#platform/sandbox-host/isolation/jail.ts'
import type { SandboxHostsDeps } from '#platform/sandbox-host/sandbox-hosts.ts'
import { openSandboxJail, type SandboxEntries } from '#platform/sandbox-host/sandbox-jail.ts'
import { readGuestScripts } from '#platform/sandbox-host/sandbox-programs.ts'
import type { GuestScripts } from '#sandbox/protocol/part-names.ts'

import { silentLog } from './silent-log.ts'
import { SANDBOX_CONFIG } from './test-sandbox.ts'

/** A user may have only so many threads: each process of the tests has one of its own, for the hosts of many services. */
const CONFIG = { ...SANDBOX_CONFIG, hosts: 16, uid: 62_000 + (process.pid % 2000) }

let scripts: Promise<GuestScripts> | undefined
let jail: Promise<Jail> | undefined

/**
 * The sandbox of this run's build, which starts with half the work that its sources take; its snapshot is made once, and the
 * isolation layers are detected once.
 */
export async function builtSandbox(): Promise<
  Pick<SandboxHostsDeps, 'cacheDir' | 'entries' | 'scripts'> & { readonly jail: Jail }
> {
  const folder = join(inject('builtProgram'), 'sandbox')
  const cacheDir = inject('snapshotFolder')
  const entries = builtEntries()
  scripts ??= readGuestScripts(folder)
  jail ??= openSandboxJail({ config: CONFIG, cacheDir, entries, logger: silentLog })
  return { cacheDir, entries, scripts: await scripts, jail: await jail }
}

/** The process that parses mail, of this run's build. */
export const builtMailParser = async (): Promise<HostCommand> =>
  mailParserCommand(
    (await builtSandbox()).jail,
    join(inject('builtProgram'), 'sandbox', 'mail-parser.js'),
  )

function builtEntries(): SandboxEntries {
  const folder = join(inject('builtProgram'), 'sandbox')
  return {
    host: join(folder, 'main.js'),
    preparer: join(folder, 'preparer.js'),
    probe: join(folder, 'probe.js'),
  }
}
