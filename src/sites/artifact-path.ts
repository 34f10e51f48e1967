const MAX_BYTES = 512
const MAX_DEPTH = 32

/** The folder itself; its `.git` is never part of the artifact. */
const WHOLE_REPOSITORY = '.'

type Rule = readonly [broken: (path: string) => boolean, fault: string]

const RULES: readonly Rule[] = [
  [(path) => path === '', 'is empty'],
  [(path) => Buffer.byteLength(path) > MAX_BYTES, `is longer than ${MAX_BYTES} bytes`],
  [(path) => path.startsWith('/'), 'must be relative: no "/" at the start'],
  [(path) => path.includes('\\'), 'contains "\\": put "/" between folders'],
  [(path) => /\p{Cc}/u.test(path), 'contains a control character'],
  [(path) => !path.isWellFormed(), 'is not valid Unicode'],
  [(path) => path.split('/').length > MAX_DEPTH, `is nested deeper than ${MAX_DEPTH} folders`],
  [(path) => hasPart(path, '..'), 'contains "..": it must stay inside the artifact'],
  [(path) => hasPart(path, '') || hasPart(path, '.'), 'contains an empty or "." folder'],
]

/** Why a file of an artifact cannot have this path, or undefined. Paths are relative, with `/` between their parts. */
export const pathFault = (path: string): string | undefined =>
  RULES.find(([broken]) => broken(path))?.[1]

/** One spelling for one folder: `./dist/` is `dist`. Says nothing about whether it is allowed. */
export function normalDirectory(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length === 0 ? WHOLE_REPOSITORY : parts.join('/')
}

/** Why this cannot be the artifact's folder, or undefined. */
export function directoryFault(text: string): string | undefined {
  if (text.trim() === '') return 'is empty: name the folder that holds the built site, like "dist"'
  if (text.startsWith('/')) return 'must be relative to the repository: no "/" at the start'
  const normal = normalDirectory(text)
  return normal === WHOLE_REPOSITORY ? undefined : pathFault(normal)
}

const hasPart = (path: string, part: string): boolean => path.split('/').includes(part)
