import { LANGUAGES, type ConsoleLanguage } from '#app/texts/languages.ts'

/** What the server says about itself in the page. */
export interface ConsoleConfig {
  /** Of the admin pool, on the console's own origin: `https://admin.shop.test/oidc/ID`. */
  readonly issuer: string
  readonly clientId: string
  /** The site's domain. */
  readonly domain: string
  readonly version: string
  readonly languages: readonly ConsoleLanguage[]
}

/** Parses the content of `<meta name="croft-console">`. Throws where the page has none, or another. */
function parseConsoleConfig(content: string | null | undefined): ConsoleConfig {
  const values: unknown = JSON.parse(content ?? '{}')
  const text = (name: string): string => {
    const value =
      typeof values === 'object' && values !== null ? Reflect.get(values, name) : undefined
    if (typeof value !== 'string' || value === '') {
      throw new Error(`<meta name="croft-console"> has no "${name}"`)
    }
    return value
  }
  const languages: unknown = Reflect.get(Object(values), 'languages')
  return {
    issuer: text('issuer'),
    clientId: text('clientId'),
    domain: text('domain'),
    version: text('version'),
    languages: LANGUAGES.filter((known) => !Array.isArray(languages) || languages.includes(known)),
  }
}

export const readConsoleConfig = (page: Document): ConsoleConfig =>
  parseConsoleConfig(page.querySelector('meta[name="croft-console"]')?.getAttribute('content'))
