import { pathFault } from './artifact-path.ts'

/** The folder itself; its `.git` is never part of the artifact. */
const WHOLE_REPOSITORY = '.'

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
