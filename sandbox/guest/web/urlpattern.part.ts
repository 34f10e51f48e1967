import { URLPattern } from 'urlpattern-polyfill/urlpattern'

/** A parsed pattern, as the shell on the global sees it. */
export interface UrlPattern {
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly hostname: string
  readonly port: string
  readonly pathname: string
  readonly search: string
  readonly hash: string
  readonly hasRegExpGroups: boolean
  test(...input: readonly unknown[]): boolean
  exec(...input: readonly unknown[]): object | null
}

const PatternClass = URLPattern as unknown as new (...args: readonly unknown[]) => UrlPattern

export const parsePattern = (...args: readonly unknown[]): UrlPattern => new PatternClass(...args)
