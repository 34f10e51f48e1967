import { indexOf, join, push, slice, split, startsWith } from './primordials.ts'

/** The folder that site code sees its artifact in. */
export const ARTIFACT_ROOT = '/site'

/** An absolute path of one that may be relative to `folder`, without `.` and `..`. */
export function joinPath(folder: string, path: string): string {
  const parts = split(startsWith(path, '/') ? path : `${folder}/${path}`, '/')
  const kept: string[] = []
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string
    if (part === '' || part === '.') continue
    if (part === '..') kept.length = kept.length > 0 ? kept.length - 1 : 0
    else push(kept, part)
  }
  return `/${join(kept, '/')}`
}

/** The path in a `file:` URL. */
export function fileOfUrl(href: string): string {
  if (!startsWith(href, 'file:')) throw new TypeError('Must be a file URL')
  const path = slice(href, startsWith(href, 'file://') ? 'file://'.length : 'file:'.length)
  return decodeURIComponent(withoutQuery(path))
}

/** The `file:` URL of a path in the artifact. */
export const urlOfFile = (path: string): string =>
  `file://${ARTIFACT_ROOT}/${encodeURI(path).replaceAll('#', '%23').replaceAll('?', '%3F')}`

function withoutQuery(path: string): string {
  const marks = [indexOf(path, '?'), indexOf(path, '#')]
  let end = path.length
  for (let index = 0; index < marks.length; index++) {
    const at = marks[index] as number
    if (at !== -1 && at < end) end = at
  }
  return slice(path, 0, end)
}
