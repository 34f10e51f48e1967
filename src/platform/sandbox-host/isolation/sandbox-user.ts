import { createHash } from 'node:crypto'

/** Numbers that no distribution gives to an account of its own accord, and that a container has too. */
const FIRST_UID = 62_000
const UIDS = 2000

/** The user that an installation's sandbox processes run as when its service is root: another for each data folder. */
export const sandboxUid = (dataDir: string): number =>
  FIRST_UID + (createHash('sha256').update(dataDir).digest().readUInt32LE(0) % UIDS)

/** The start of a command line: what follows it runs as that user, who can become no other again. */
export const asUser = (setpriv: string, uid: number): string[] => [
  setpriv,
  `--reuid=${uid}`,
  `--regid=${uid}`,
  '--clear-groups',
  '--inh-caps=-all',
  '--no-new-privs',
  '--',
]

/**
 * The start of a command line: what follows it has no capability, such as one that `AmbientCapabilities=` of systemd gives to all that a
 * service starts. bubblewrap refuses to start with any.
 */
export const withoutCapabilities = (setpriv: string): string[] => [
  setpriv,
  '--ambient-caps=-all',
  '--inh-caps=-all',
  '--',
]
