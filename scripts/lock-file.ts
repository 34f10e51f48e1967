/** As much of a lock file (version 3) as is needed here. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A package for one platform that another package names and the lock file lacks. */
export interface MissingPackage {
  readonly name: string
  readonly version: string
  readonly dev: boolean
}

const OS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']
const ALIASES: Readonly<Record<string, string>> = { windows: 'win32', '64': 'x64' }

/** `npm ci` refuses a lock file that lacks one of them, whatever platform it is for. */
export function missingPackages({ packages }: LockFile): MissingPackage[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {}, dev = false }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !placesOf(path, name).some((place) => place in packages))
      .map(([name, version]) => ({ name, version, dev })),
  )
}

/** With an entry for each of them, as `npm install` writes it where the registry has the package. */
export function completed<Lock extends LockFile>(lock: Lock): Lock {
  const added = missingPackages(lock).map(
    (missing) => [`node_modules/${missing.name}`, entryOf(missing)] as const,
  )
  const packages = [...Object.entries(lock.packages), ...added].toSorted(([a], [b]) =>
    a.localeCompare(b, 'en'),
  )
  return { ...lock, packages: Object.fromEntries(packages) }
}

/** Where a package may stand that another one finds: inside it, or in any folder above. */
function placesOf(path: string, name: string): string[] {
  const folders = path.split('/node_modules/')
  const above = folders.map((_, at) => folders.slice(0, at + 1).join('/node_modules/'))
  return ['', ...above].map((folder) => `${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
}

function entryOf({ name, version, dev }: MissingPackage): LockedPackage {
  const words = (name.split('/').at(-1) ?? '').split('-').map((word) => ALIASES[word] ?? word)
  const os = words.find((word) => OS.includes(word))
  if (os === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`"${name}@${version}" names no platform: add it to the lock file by hand`)
  }
  const cpu = words.find((word) => CPU.includes(word))
  const libc = libcOf(os, words)
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    os: [os],
  }
}

function libcOf(os: string, words: readonly string[]): string | undefined {
  if (os !== 'linux') return undefined
  if (words.some((word) => word.startsWith('musl'))) return 'musl'
  return words.some((word) => word.startsWith('gnu') || word === 'glibc') ? 'glibc' : undefined
}
