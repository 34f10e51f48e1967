/** As much of a lock file (version 3) as is needed here. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** That of the product, and those of what is no part of its installation. */
export const LOCK_FILES = [
  'package-lock.json',
  'bench/packages/package-lock.json',
  'peers/package-lock.json',
  'tools/package-lock.json',
].map((path) => new URL(`../${path}`, import.meta.url).pathname)

type Versions = Readonly<Record<string, string>>

interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
  readonly optionalDependencies?: Versions
  readonly peerDependencies?: Versions
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
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

/**
 * Without the packages that only development needs. `npm ci --omit=dev` would still install those of them that a package
 * of production names as an optional peer.
 */
export function withoutDevelopment({ packages, ...lock }: LockFile): LockFile {
  const { devDependencies: _, ...root } = packages[''] ?? {}
  const kept: Record<string, LockedPackage> = { '': root }
  const visit = (path: string): void => {
    for (const name of requiredNames(kept[path] ?? {})) {
      const found = placesOf(path, name).findLast((place) => place in packages)
      if (found === undefined || found in kept) continue
      const { devOptional, ...entry } = packages[found] ?? {}
      kept[found] = devOptional === true ? { ...entry, optional: true } : entry
      visit(found)
    }
  }
  visit('')
  const inOrder = Object.keys(packages).filter((path) => path in kept)
  return { ...lock, packages: Object.fromEntries(inOrder.map((path) => [path, kept[path] ?? {}])) }
}

const requiredNames = (entry: LockedPackage): string[] => [
  ...Object.keys(entry.dependencies ?? {}),
  ...Object.keys(entry.optionalDependencies ?? {}),
  ...Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
  ),
]

/** The folders in which another package finds a package: inside it, or in any folder above; the nearest is last. */
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
