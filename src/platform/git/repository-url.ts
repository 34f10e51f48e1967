import { AppError } from '#base/app-error.ts'

const SCHEMES = ['https:', 'ssh:', 'git:']
/** `user@host:path`, as ssh writes it. */
const SCP_LIKE = /^[\w.-]{1,64}@[\w.-]{1,253}:(?!-)[^\s]{1,1000}$/

/** The URL, when git may be given it: a known transport, and nothing that git would read as an option or a helper. */
export function repositoryUrl(url: string, allowFileUrls: boolean): string {
  if (SCP_LIKE.test(url) && !url.includes('::')) return url
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const schemes = allowFileUrls ? [...SCHEMES, 'file:'] : SCHEMES
  const fine =
    parsed !== undefined &&
    schemes.includes(parsed.protocol) &&
    !parsed.hostname.startsWith('-') &&
    (parsed.protocol === 'file:' || parsed.hostname !== '')
  if (fine) return url
  throw new AppError(
    'SourceUnavailable',
    `The repository URL is not one that can be fetched: use https://, ssh://, git:// or user@host:path`,
  )
}
